import type { JsonObject } from '../../core/json/json-value.ts';
import type { ArtifactDigest, OutputId } from '../../core/log/ids.ts';
import type { NodeOutput } from '../../core/views/node-facts.ts';
import type { ArtifactStore } from '../ports/content-stores.ts';

/** An output with its content; a missing or damaged artifact has no value. */
export type ReadOutput =
  | { readonly kind: 'note'; readonly outputId: OutputId; readonly text: string }
  | {
      readonly kind: 'artifact';
      readonly sha256: ArtifactDigest;
      readonly byteLength: number;
      readonly value: JsonObject | undefined;
    };

export async function readOutputs(
  artifacts: ArtifactStore,
  outputs: readonly NodeOutput[],
): Promise<readonly ReadOutput[]> {
  const read: ReadOutput[] = [];
  for (const { data } of outputs) {
    if (data.outputChannel === 'recap') {
      read.push({ kind: 'note', outputId: data.outputId, text: data.payload.notesMarkdown });
    } else {
      const { sha256, byteLength } = data.payload;
      const value = (await artifacts.getJson(sha256)).map((found) => found.value).unwrapOr(undefined);
      read.push({ kind: 'artifact', sha256, byteLength, value });
    }
  }
  return read;
}
