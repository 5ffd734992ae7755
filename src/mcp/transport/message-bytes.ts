/** A call may hand in 32 artifacts of 256 KiB, each letter of which JSON may write as six. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
