import type { Result } from 'neverthrow';
import type { ArtifactDigest } from '../../core/log/ids.ts';
import type { StoreFailure } from './store-failure.ts';

/** Bytes of artifacts by their digest. They come in with the append that names them. */
export type ArtifactStore = {
  get(digest: ArtifactDigest): Promise<Result<Uint8Array, StoreFailure>>;
};
