import { defined, type JsonObject, quote } from '../../json/json-value.ts';
import type { Blocker } from '../../log/blockers.ts';
import type { Call, NextIntent } from '../../log/error-envelope.ts';
import { runTag } from '../../log/ids.ts';
import { hole, type OpenReply } from '../../log/operation/stored-reply.ts';
import { visibleLine, visibleText } from '../../text/visible-text.ts';
import type { Lifecycle, ReplyParts, ShownReference } from '../reply-parts.ts';
import { replyWarning } from '../reply-warnings.ts';
import type { StandingTexts } from '../step/render-step.ts';
import type { ReplyWarning, WarningFact } from '../warning-facts.ts';
import { footer, joined, stepContextData, type TextPart } from './footer.ts';
import { replyGapData } from './gap-lines.ts';
import { branchData, guidanceData, recapData, recordedData, shownDraft } from './reply-sections.ts';
import { type RunResult, resultData } from './run-result.ts';

/** The content of one reply, before it becomes text and data. */
export type Outline = {
  readonly kind: 'ok' | 'blocked';
  /** Paragraphs before the footer. */
  readonly sections: readonly (readonly TextPart[])[];
  readonly standing: string;
  readonly pending: JsonObject | null;
  readonly nextIntent: NextIntent;
  readonly nextCall: Call | undefined;
  readonly isCallOnTop: boolean;
  readonly advice: string;
  readonly warnings: readonly ReplyWarning[];
  /** Gaps for the footer; the reply of a finished run shows them first. */
  readonly gaps: ReplyParts['gaps'];
  /** Values that are shown apart from the step's texts. */
  readonly values: ReadonlyMap<string, string>;
  /** What the author says about the whole workflow. */
  readonly guidance: StandingTexts;
  /** What was done and skipped; only of a finished run. */
  readonly result?: RunResult;
};

/** The same reply as text and as data: each must be enough for a reader who sees only one of them. */
export function assembleReply(parts: ReplyParts, outline: Outline): OpenReply {
  const warnings = allWarnings(parts, outline);
  const { standing, advice, gaps } = outline;
  const nextCall = outline.isCallOnTop ? undefined : outline.nextCall;
  const text = [
    ...outline.sections.flatMap((section) => [...section, '\n\n']),
    ...footer(parts, { standing, advice, gaps, warnings, nextCall }),
  ];
  const references = shownReferences(parts);
  return {
    text: joined(text.map((part) => (typeof part === 'string' ? visibleText(part) : part))),
    ...(references.length === 0 ? {} : { furtherTexts: [visibleText(referencesText(references, parts.lifecycle))] }),
    structured: structuredReply(parts, outline, warnings),
  };
}

function structuredReply(parts: ReplyParts, outline: Outline, warnings: readonly ReplyWarning[]): JsonObject {
  const { runId, index, facts, blocked, lifecycle } = parts;
  const { kind, pending, nextIntent, nextCall } = outline;
  const { workflowId, name } = index.workflow;
  const { autonomy, riskPolicy } = facts.preferences;
  const references = shownReferences(parts);
  const isComplete = parts.state.kind === 'complete';
  return {
    kind,
    run: defined({ tag: runTag(runId), workflowId, title: name, source: facts.source }),
    session: { sessionId: hole('sessionId'), runId },
    pending,
    stateToken: hole('stateToken'),
    ...(isComplete ? {} : { ackToken: hole('ackToken') }),
    checkpointToken: hole('checkpointToken'),
    isComplete,
    nextIntent,
    nextCall: nextCall === undefined ? null : { tool: nextCall.tool, arguments: nextCall.arguments },
    preferences: defined({ autonomy, riskPolicy, setBy: facts.setBy }),
    warnings: warnings.map(warningData),
    gaps: parts.gaps.map(replyGapData),
    ...(outline.result === undefined ? {} : { result: resultData(outline.result) }),
    blockers: (blocked?.blockers ?? []).map(blockerData),
    ...stepContextData(parts),
    ...recordedData(parts, outline.values),
    ...returnData(parts),
    ...(references.length === 0 ? {} : { references: referencesData(references, lifecycle) }),
    ...guidanceData(outline.guidance),
  };
}

/** Shown only when a run is rehydrated; the goal also at the start. */
function returnData(parts: ReplyParts): JsonObject {
  const { goal, recap, draft, branch } = parts;
  return defined({
    goal,
    recap: recap && recapData(recap),
    draft: draft && defined({ notesMarkdown: shownDraft(parts), artifactKinds: draft.artifactKinds }),
    branch: branch && branchData(branch),
  });
}

function blockerData({ code, pointer, message, suggestedFix, details }: Blocker): JsonObject {
  return defined({ code, pointer, message, suggestedFix, details });
}

function warningData({ code, message, details, suggestedCall }: ReplyWarning): JsonObject {
  return defined({ code, message, details, suggestedCall: suggestedCall && { ...suggestedCall } });
}

function shownReferences({ references = [], lifecycle }: ReplyParts) {
  return areReferencesShown(lifecycle) ? references : [];
}

/** The warnings of the call, of the step and of what is shown, each once. */
function allWarnings(parts: ReplyParts, outline: Outline): readonly ReplyWarning[] {
  const { riskPolicy } = parts.facts.preferences;
  const own = ownFindings(parts).map((fact) => replyWarning(fact, riskPolicy));
  const all = [...parts.warnings, ...outline.warnings, ...own];
  return [...new Map(all.map((warning) => [quote(warningData(warning)), warning])).values()];
}

function ownFindings(parts: ReplyParts): readonly WarningFact[] {
  const missing = shownReferences(parts).filter(({ isResolved }) => !isResolved);
  return [
    ...(missing.length === 0
      ? []
      : [{ code: 'reference_unresolved', titles: missing.map(({ title }) => title) } as const]),
    ...(shownDraft(parts) === parts.draft?.notesMarkdown
      ? []
      : [{ code: 'text_cut', parts: ['the notes of the blocked report'] } as const]),
  ];
}

/** Whether the reader of this reply may not know the workflow's documents yet, or no longer. */
function areReferencesShown(lifecycle: Lifecycle): boolean {
  return lifecycle === 'start' || lifecycle === 'rehydrate';
}

/** The documents of a workflow: in full at the start, later only their paths. */
function referencesText(references: readonly ShownReference[], lifecycle: Lifecycle): string {
  const lines = references.map((reference) => {
    const { isAuthoritative, isResolved, isOutside } = reference;
    // They come from a file that anybody may have written: none of them may begin a line of ours.
    const [title, path, purpose] = [reference.title, reference.path, reference.purpose].map(visibleLine);
    const mark = `${isOutside ? ' [outside the workspace]' : ''}${isResolved ? '' : ' [not found]'}`;
    if (lifecycle !== 'start') return `- ${title}${mark}: ${path}`;
    const weight = isAuthoritative ? ' (authoritative)' : '';
    return `- ${title}${weight}${mark}: ${path}${purpose === '' ? '' : `\n  ${purpose}`}`;
  });
  return ['Documents of this workflow:', ...lines].join('\n');
}

function referencesData(references: readonly ShownReference[], lifecycle: Lifecycle): readonly JsonObject[] {
  return references.map(({ title, path, purpose, isAuthoritative, isResolved, isOutside }) => ({
    title,
    path,
    ...(lifecycle === 'start' ? { purpose, authoritative: isAuthoritative, resolved: isResolved } : {}),
    ...(isOutside ? { outside: true } : {}),
  }));
}
