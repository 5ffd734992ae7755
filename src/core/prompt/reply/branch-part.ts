import type { JsonObject } from '../../json/json-value.ts';
import { truncate } from '../../json/truncate.ts';
import { BRANCH_CHILDREN_MAX, BRANCH_SUMMARY_BYTES_MAX } from '../../log/budgets.ts';
import type { BranchPart } from '../reply-parts.ts';
import { oneLine } from '../reserved-lines.ts';
import { titleWithoutValues } from '../step/fill-values.ts';
import { callText, type TextPart } from './call-text.ts';
import { recapData, recapText } from './recap-part.ts';

/** A branch within its budgets: what is over is counted, not shown. */
export function fittedBranch(branch: BranchPart): BranchPart {
  const children = branch.children.slice(0, BRANCH_CHILDREN_MAX).map(({ kind, summary }) => ({
    kind,
    summary: truncate(summary, BRANCH_SUMMARY_BYTES_MAX),
  }));
  const childrenOmitted = branch.childrenOmitted + branch.children.length - children.length;
  const stepTitle = titleWithoutValues(branch.preferred.stepTitle);
  return { children, childrenOmitted, preferred: { ...branch.preferred, stepTitle } };
}

/** Tells somebody who came back to a step already done what became of it, and that there is a choice. */
export function branchText({ children, childrenOmitted, preferred }: BranchPart): readonly TextPart[] {
  const { stateToken, stepTitle, isComplete, recap } = preferred;
  const stand = isComplete ? 'that work is complete' : `that work now stands at "${stepTitle}"`;
  const list = children.map(({ kind, summary }) => `- ${KINDS[kind]}: ${oneLine(summary) || 'no notes'}`);
  const more = childrenOmitted === 0 ? [] : [`- and ${childrenOmitted} more`];
  return [
    `This step was already done, and ${stand}. Go on there, or do the step again here: that makes a second branch and leaves the first as it is.\nTo go on there: `,
    ...callText({ tool: 'continue_workflow', arguments: { stateToken } }),
    ['\n\nWhat came from here so far:', ...list, ...more].join('\n'),
    `\n\n${recapText(recap, 'Work done there')}`,
  ];
}

const KINDS: { readonly [kind in BranchPart['children'][number]['kind']]: string } = {
  step: 'done',
  blocked_attempt: 'held back',
  checkpoint: 'saved',
};

export function branchData({ children, childrenOmitted, preferred }: BranchPart): JsonObject {
  const { stateToken, stepTitle, isComplete, recap } = preferred;
  return {
    children: children.map(({ kind, summary }) => ({ kind, summary })),
    childrenOmitted,
    preferred: { stateToken, stepTitle, isComplete, recap: recapData(recap) },
  };
}
