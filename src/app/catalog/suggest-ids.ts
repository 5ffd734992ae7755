import { assert } from '../../core/assert.ts';
import { canonicalBytes, digestHex, type Sha256 } from '../../core/json/canonical-bytes.ts';
import { legacyName } from '../../core/workflow/format/read-workflow.ts';
import type { WorkflowFile } from '../ports/workflow-sources.ts';
import { type FileClaim, SOURCE_NAMESPACES } from './file-claim.ts';

const SUFFIX_LENGTH = 4;

/** Ids with a namespace for files whose id has none. Equal files get equal suggestions, on every machine. */
export function suggestIds(claims: readonly FileClaim[], sha256: Sha256): ReadonlyMap<WorkflowFile, string> {
  const taken = new Set(claims.map(({ id }) => id));
  const oldIds = new Map<string, Set<string>>();
  const plain = claims.filter(({ id }) => !id.includes('.')).map((claim) => ({ claim, id: plainSuggestion(claim) }));
  for (const { claim, id } of plain) oldIds.set(id, (oldIds.get(id) ?? new Set()).add(claim.id));
  return new Map(
    plain.map(({ claim: { file }, id }) => {
      const isFree = !taken.has(id) && oldIds.get(id)?.size === 1;
      return [file, isFree ? id : `${id}_${suffixOf(file, sha256)}`];
    }),
  );
}

function plainSuggestion({ file, id }: FileClaim): string {
  return `${SOURCE_NAMESPACES[file.kind]}.${legacyName(id)}`;
}

/** Told from where the file is rather than from what it says, so that an edit does not change the suggestion. */
function suffixOf({ kind, ref }: WorkflowFile, sha256: Sha256): string {
  const bytes = canonicalBytes([kind, ref]);
  assert(bytes.isOk(), 'the name of a file is JSON');
  return digestHex(sha256(bytes.value)).slice(0, SUFFIX_LENGTH);
}
