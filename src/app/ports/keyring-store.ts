import type { Result } from 'neverthrow';
import type { Keyring } from '../../core/token/keyring.ts';
import type { StoreFailure } from './store-failure.ts';

/** Holds the signing keys of this machine. */
export type KeyringStore = {
  /** The keyring, or `undefined` while none was ever made. Never writes. */
  find(): Promise<Result<Keyring | undefined, StoreFailure>>;
  /** The keyring; the first call on a machine makes it, however many processes race. */
  open(): Promise<Result<Keyring, StoreFailure>>;
  /**
   * Puts a fresh key in front and gives the keyring as it is then. Of several at once, each builds on the one before.
   * From then on everyone gets that keyring, other processes too.
   */
  rotate(): Promise<Result<Keyring, StoreFailure>>;
};
