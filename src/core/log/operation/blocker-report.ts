import { assert } from '../../assert.ts';
import { truncate } from '../../json/truncate.ts';
import { utf8Length, utf8Prefix } from '../../text/utf8.ts';
import { type Blocker, type BlockerReport, compareBlockers } from '../blockers.ts';
import { BLOCKER_FIX_BYTES_MAX, BLOCKER_MESSAGE_BYTES_MAX, BLOCKERS_MAX, DETAILS_BYTES_MAX } from '../budgets.ts';
import { canonicalLength } from '../field-schemas.ts';

/** Builds a report that fits from all that is unmet: one blocker a place, and what finds no room is counted. */
export function blockerReport(findings: readonly Blocker[]): BlockerReport {
  assert(findings.length > 0, 'a report has something to say');
  const groups = groupByPlace(findings);
  const shown = groups.slice(0, BLOCKERS_MAX);
  const hidden = groups.slice(BLOCKERS_MAX).flat().length;
  return shown.map((group, i) => merge(group, i === shown.length - 1 ? hidden : 0));
}

type Group = readonly [Blocker, ...Blocker[]];

function groupByPlace(findings: readonly Blocker[]): readonly Group[] {
  const groups: [Blocker, ...Blocker[]][] = [];
  for (const finding of [...findings].sort(compareBlockers)) {
    const group = groups.at(-1);
    if (group !== undefined && compareBlockers(group[0], finding) === 0) group.push(finding);
    else groups.push([finding]);
  }
  return groups;
}

function merge(group: Group, hidden: number): Blocker {
  const [{ code, pointer }] = group;
  const fixes = [...new Set(group.flatMap(({ suggestedFix }) => suggestedFix ?? []))].join('\n');
  // Facts that no rule reads must not cost the report.
  const details = group.find((finding) => hasFittingDetails(finding))?.details;
  const messages = group.map(({ message }) => message);
  return {
    code,
    pointer,
    message: fitMessages(messages, hidden),
    ...(fixes === '' ? {} : { suggestedFix: truncate(fixes, BLOCKER_FIX_BYTES_MAX) }),
    ...(details === undefined ? {} : { details }),
  };
}

function hasFittingDetails({ details }: Blocker): boolean {
  return details !== undefined && canonicalLength(details) <= DETAILS_BYTES_MAX;
}

/** As many whole messages as fit, then how many more there are. */
function fitMessages(messages: readonly string[], hidden: number): string {
  for (let kept = messages.length; kept > 0; kept--) {
    const text = messages.slice(0, kept).join(' ') + andMore(messages.length - kept + hidden);
    if (utf8Length(text) <= BLOCKER_MESSAGE_BYTES_MAX) return text;
  }
  const more = messages.length - 1 + hidden;
  const first = messages[0] ?? '';
  if (more === 0) return truncate(first, BLOCKER_MESSAGE_BYTES_MAX);
  const tail = `…${andMore(more)}`;
  return utf8Prefix(first, BLOCKER_MESSAGE_BYTES_MAX - utf8Length(tail)) + tail;
}

function andMore(count: number): string {
  return count === 0 ? '' : ` and ${count} more`;
}
