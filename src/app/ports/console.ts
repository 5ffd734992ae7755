/** Tells when something was appended, marked or removed, also by another process. It may tell too often, never too rarely. */
export type StoreFeed = {
  /** Calls back after each change until the returned function is called. */
  readonly watch: (onChange: () => void) => () => void;
};

/** A file of the console's page as it is sent. */
export type ConsoleAsset = {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: { readonly [name: string]: string };
};

/** The files of the console's page, as the build made them. */
export type ConsoleAssets = {
  /** A file below `/assets/`. Its name holds a digest of its content, so it never changes. */
  readonly file: (name: string, isGzipAccepted: boolean) => Promise<ConsoleAsset | undefined>;
  /** The page itself, for every other address; its styles carry the nonce. */
  readonly page: (styleNonce: string) => Promise<string | undefined>;
};
