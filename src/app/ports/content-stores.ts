import type { Result } from 'neverthrow';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { ArtifactDigest } from '../../core/log/ids.ts';
import type { StoreFailure } from './store-failure.ts';

/** Bytes of artifacts by their digest. They come in with the append that names them. */
export type ArtifactStore = {
  get(digest: ArtifactDigest): Promise<Result<Uint8Array, StoreFailure>>;
  /** An artifact that must be a JSON object, as those that agents hand in are. */
  getJson(digest: ArtifactDigest): Promise<Result<StoredJson, StoreFailure>>;
};

export type StoredJson = { readonly value: JsonObject; readonly bytes: Uint8Array };
