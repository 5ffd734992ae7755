import type { Result } from 'neverthrow';
import type { LogKey } from '../../core/log/log-signatures.ts';
import type { LogSigner } from '../../core/log/manifest.ts';
import type { Keyring, SigningKey } from '../../core/token/keyring.ts';
import type { StoreFailure } from './store-failure.ts';

/** A public key of a store, with which its signatures are checked. */
export type PublicKey = LogKey & { readonly pem: string };

/** The name of a key in logs and passports: the SHA-256 of its public key. */
export type KeyidOf = (key: SigningKey) => string;

/** The private half. It signs what is exported. */
export type StoreKey = LogSigner & {
  readonly publicKey: PublicKey;
  readonly signBytes: (message: Uint8Array) => string;
  /** 32 bytes that nobody without the key can guess, the same for the same event. */
  readonly saltOf: (event: string) => Uint8Array;
};

/** A keyring that is sealed with a master key. */
export type SealedKeyring = KeyringStore & {
  /** Seals it with the current master key. False if it is so already, or if there is none. */
  reseal(): Promise<Result<boolean, StoreFailure>>;
};

/** Holds the signing keys of this machine, or of one space of a team. */
export type KeyringStore = {
  /** The keyring; `undefined` if none exists yet. Never writes. */
  find(): Promise<Result<Keyring | undefined, StoreFailure>>;
  /**
   * The keyring that was found last, unless the store has seen since that there is another one. Loading a session is such
   * a look, so a caller who loads one between two calls that give the same keyring need not find it.
   */
  known?(): Keyring | undefined;
  /** The keyring. The first call on a machine creates it, however many processes race. */
  open(): Promise<Result<Keyring, StoreFailure>>;
  /**
   * Adds a new current key and returns the keyring. Concurrent rotations run one after the other. From then on every
   * process gets that keyring.
   */
  rotate(): Promise<Result<Keyring, StoreFailure>>;
  /** Stores a keyring of another store, so that its tokens are valid here. False if there is already another one. */
  adopt(keyring: Keyring): Promise<Result<boolean, StoreFailure>>;
  /** Moves a damaged keyring aside and makes a new one. Returns where it was moved; `undefined` if it is not damaged. */
  repair(): Promise<Result<string | undefined, StoreFailure>>;
};
