import { assert } from '../../assert.ts';
import { BLOCKER_MESSAGE_BYTES_MAX } from '../../log/budgets.ts';
import { clip, utf8Length } from '../../text/utf8.ts';
import { visibleJson } from '../../text/visible-text.ts';
import type { PinnedContract } from '../compiled/compiled-workflow.ts';
import type { ArtifactViolation } from './check-artifact.ts';

const PATH_BYTES_MAX = 120;
const FOUND_BYTES_MAX = 60;
const ALLOWED_BYTES_MAX = 160;
/** More never fit into a blocker, and a refused artifact may have very many. */
const SENTENCES_MAX = 32;

type Named = Pick<PinnedContract, 'artifactKind'>;

/** Says what is wrong with an artifact, within the budget of a blocker: what finds no room is counted. */
export function violationMessage({ artifactKind }: Named, violations: readonly ArtifactViolation[]): string {
  assert(violations.length > 0, 'an artifact is refused for a reason');
  const head = `The ${clip(artifactKind)} artifact was not accepted: `;
  const sentences = violations.slice(0, SENTENCES_MAX).map(explainViolation);
  let message = '';
  for (let kept = sentences.length; kept > 0; kept--) {
    const more = violations.length - kept;
    message = `${head}${sentences.slice(0, kept).join('; ')}${more === 0 ? '.' : `; and ${more} more.`}`;
    if (utf8Length(message) <= BLOCKER_MESSAGE_BYTES_MAX) break;
  }
  assert(utf8Length(message) <= BLOCKER_MESSAGE_BYTES_MAX, 'one sentence fits into a blocker');
  return message;
}

/** Says that an artifact was asked for and did not come. */
export function missingMessage({ artifactKind }: Named): string {
  return `The required artifact of kind ${clip(artifactKind)} was not sent.`;
}

/** Says how to continue. The offered call has the form. */
export function contractFix({ artifactKind }: Named): string {
  return `Send \`output.artifacts\` with a ${clip(artifactKind)} object. Fill in every blank in the next call, and do not invent facts to do so.`;
}

/** What is allowed, with an article where it is a number. */
function allowedWords(allowed: string): string {
  return allowed.replace(/^whole number from (\d+)$/, 'a whole number, $1 or more').replace(/^whole/, 'a whole');
}

/** One violation as part of a sentence, of bounded length whatever was sent. */
function explainViolation({ code, path, found, allowed }: ArtifactViolation): string {
  // The names of fields come from the agent: they must not begin a line.
  const where = path === '' ? 'the artifact' : clip(visibleJson(path), PATH_BYTES_MAX);
  const what = clip(allowedWords(allowed), ALLOWED_BYTES_MAX);
  switch (code) {
    case 'missing':
      return `${where} is missing (${what})`;
    case 'unknown_key':
      return `${where} is an unknown field (known fields: ${what})`;
    default:
      return `${where} is ${clip(found, FOUND_BYTES_MAX)} (allowed: ${what})`;
  }
}
