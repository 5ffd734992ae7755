import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { errorCode, isMissing, readRegular } from './guarded-file.ts';

const SECRET_BYTES = 32;
const SECRET = /^[\w-]{43}$/;
const OWN_FILE = 0o600;
const OTHERS_BITS = 0o077;

export type HttpSecret = { readonly file: string; readonly text: string };
export type SecretRefusal = { readonly code: 'secret_failed'; readonly file: string; readonly cause: string };

/**
 * The secret that clients send to the HTTP server of this data folder, made on first use. Other users of the machine can
 * reach the port, but not the file.
 */
export async function openHttpSecret(dataDir: string): Promise<Result<HttpSecret, SecretRefusal>> {
  const file = join(dataDir, 'keys', 'http-token');
  const failed = (cause: string) => err({ code: 'secret_failed' as const, file, cause });
  try {
    const text = (await read(file)) ?? (await make(file)) ?? '';
    if (!SECRET.test(text)) return failed('it does not hold a token');
    if (((await stat(file)).mode & OTHERS_BITS) !== 0) await chmod(file, OWN_FILE);
    return ok({ file, text });
  } catch (cause) {
    const code = errorCode(cause);
    if (code === undefined) throw cause;
    return failed(code);
  }
}

async function read(file: string): Promise<string | undefined> {
  try {
    return readRegular(file).toString().trim();
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw cause;
  }
}

/** Of several processes, one makes the file and the others read it. */
async function make(file: string): Promise<string | undefined> {
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(draft, 'wx', OWN_FILE);
    try {
      await handle.writeFile(`${randomBytes(SECRET_BYTES).toString('base64url')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(draft, file).catch((cause: unknown) => {
      if (errorCode(cause) !== 'EEXIST') throw cause;
    });
  } finally {
    await unlink(draft).catch(() => undefined);
  }
  return read(file);
}
