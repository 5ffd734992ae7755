import { canonicalLength, type Sha256 } from '../../json/canonical-json.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { blockerPointerSchema } from '../../log/blockers.ts';
import { DETAILS_BYTES_MAX, GAPS_CLOSED_MAX, GAPS_OPENED_MAX, SUMMARY_BYTES_MAX } from '../../log/budgets.ts';
import type { DraftOf } from '../../log/event.ts';
import type { NodeId, RunId, StepInstanceKey } from '../../log/ids.ts';
import { gapId } from '../../log/operation/operation-drafts.ts';
import { REASONS } from '../../log/reasons.ts';
import { truncate } from '../../text/utf8.ts';
import type { GapRecord } from '../../views/node-facts.ts';
import type { Unmet } from '../requirements/requirement.ts';
import { hasAnswer } from '../requirements/user.ts';
import type { RunFacts } from '../step-place.ts';

type Gap = GapRecord['data'];

/** The gaps of one attempt in never-stop mode: those it opens, and the records that close earlier ones. */
export type GapChanges = { readonly opened: readonly Gap[]; readonly closing: readonly Gap[] };

export type GapSources = {
  readonly nodeId: NodeId;
  /** The attempted step; none at the start of a run. */
  readonly step: StepInstanceKey | undefined;
  /** Requirements that are not met although the run continues. */
  readonly unmet: readonly Unmet[];
  readonly met: readonly string[];
  /** Gaps that are open on the line. */
  readonly open: readonly GapRecord[];
  /** As they are with this attempt. */
  readonly facts: RunFacts;
  /** What this attempt stored. */
  readonly outputs?: readonly DraftOf<'node_output_appended'>['data'][] | undefined;
  /** How many gaps there is room to close. */
  readonly room: number;
};

/** What an attempt does to the gaps of its line. */
export function gapChanges(sources: GapSources, sha256: Sha256): GapChanges {
  const met = sources.open.filter((gap) => isMetNow(gap, sources));
  const closed = new Set(met.slice(0, Math.max(0, Math.min(GAPS_CLOSED_MAX, sources.room))));
  const stillOpen = sources.open.filter((gap) => !closed.has(gap));
  const news = sources.unmet.filter((unmet) => !isStanding(unmet, stillOpen));
  const idAt = (place: number) => gapId({ nodeId: sources.nodeId, place }, sha256);
  const opened = openedGaps(news, { step: sources.step, outputs: sources.outputs, idAt });
  return {
    opened,
    closing: [...closed].map(({ data }, i) => closingGap(data, idAt(opened.length + i))),
  };
}

/** The gaps that are open on a line after an attempt. */
export function openAfter(open: readonly GapRecord[], { opened, closing }: GapChanges): readonly Gap[] {
  const closed = closing.flatMap(({ resolution }) =>
    resolution.kind === 'resolves' ? [resolution.resolvesGapId] : [],
  );
  const ids = new Set(closed);
  return [...open.map(({ data }) => data).filter((gap) => !ids.has(gap.gapId)), ...opened];
}

export function gapDrafts(
  { opened, closing }: GapChanges,
  scope: { readonly runId: RunId; readonly nodeId: NodeId },
): readonly DraftOf<'gap_recorded'>[] {
  return [...opened, ...closing].map((data) => ({ kind: 'gap_recorded', scope, data }));
}

type Opening = Pick<GapSources, 'step' | 'outputs'> & { readonly idAt: (place: number) => Gap['gapId'] };

/** One gap for each unmet requirement. Where there are more than an attempt may open, the last gap counts the rest. */
function openedGaps(news: readonly Unmet[], { step, outputs, idAt }: Opening): readonly Gap[] {
  const at = step === undefined ? {} : { step };
  const around = { at, outputs };
  const more = news.length > GAPS_OPENED_MAX ? news[GAPS_OPENED_MAX - 1] : undefined;
  if (more === undefined) return news.map((unmet, place) => openedGap(unmet, idAt(place), around));
  const listed = news.slice(0, GAPS_OPENED_MAX - 1);
  const count = news.length - listed.length;
  const { details: _, ...last } = openedGap(more, idAt(listed.length), around);
  return [
    ...listed.map((unmet, place) => openedGap(unmet, idAt(place), around)),
    { ...last, summary: `${count} more requirements of this step are not met.`, details: { count, ...at } },
  ];
}

type AtStep = { readonly step?: StepInstanceKey };
type Around = { readonly at: AtStep; readonly outputs: GapSources['outputs'] };

function openedGap(unmet: Unmet, id: Gap['gapId'], { at, outputs }: Around): Gap {
  const { severity, category, detail } = REASONS[unmet.reason].gap;
  const refs = evidenceOf(unmet, outputs);
  return {
    gapId: id,
    severity: unmet.severity ?? severity,
    // The table pairs category and detail; the compiler sees two unions.
    reason: { category, detail } as Gap['reason'],
    summary: truncate(unmet.message, SUMMARY_BYTES_MAX),
    resolution: { kind: 'unresolved' },
    ...(refs.length === 0 ? {} : { evidenceRefs: [...refs] }),
    details: detailsOf(unmet, at),
  };
}

type Evidence = NonNullable<Gap['evidenceRefs']>[number];

/** What a gap is about: events that show what was tried, and outputs: artifacts where an artifact is missing or invalid, and otherwise the notes. */
function evidenceOf({ pointer, evidence = [] }: Unmet, outputs: GapSources['outputs'] = []): readonly Evidence[] {
  const channel = pointer.kind === 'output_contract' || pointer.kind === 'capability' ? 'artifact' : 'recap';
  return [
    ...evidence.map((eventId) => ({ kind: 'event', eventId }) as const),
    ...outputs
      .filter(({ outputChannel }) => outputChannel === channel)
      .map(({ outputId }) => ({ kind: 'output', outputId }) as const),
  ];
}

function closingGap({ gapId: resolvesGapId, severity, reason, summary, details }: Gap, id: Gap['gapId']): Gap {
  return {
    gapId: id,
    severity,
    reason,
    summary: truncate(`Met later: ${summary}`, SUMMARY_BYTES_MAX),
    resolution: { kind: 'resolves', resolvesGapId },
    ...(details === undefined ? {} : { details }),
  };
}

function detailsOf({ requirement, pointer, details }: Unmet, at: AtStep): JsonObject {
  const named = { requirement, pointer, ...at };
  const whole = { ...details, ...named };
  return canonicalLength(whole) <= DETAILS_BYTES_MAX ? whole : named;
}

/** A gap about the whole line is recorded once, not again at every step; a lesser one not again in every round. */
function isStanding({ pointer, requirement, severity }: Unmet, open: readonly GapRecord[]): boolean {
  if (severity === undefined && pointer.kind !== 'capability' && pointer.kind !== 'context_key') return false;
  return open.some(({ data }) => data.details?.['requirement'] === requirement);
}

/** The details of a gap from a bundle may hold anything; a gap that cannot be understood stays open. */
function readDetails(details: JsonObject | undefined): Partial<Pick<Unmet, 'requirement' | 'pointer'>> {
  const requirement = details?.['requirement'];
  const pointer = blockerPointerSchema.safeParse(details?.['pointer']);
  return {
    ...(typeof requirement === 'string' ? { requirement } : {}),
    ...(pointer.success ? { pointer: pointer.data } : {}),
  };
}

/**
 * Whether this attempt closes a gap. An answer of the user and a capability count wherever they turn up. A list that
 * comes too late does not: the loop that needed it was already left.
 */
function isMetNow({ data }: GapRecord, { met, facts }: GapSources): boolean {
  const { requirement, pointer } = readDetails(data.details);
  if (requirement !== undefined && met.includes(requirement)) return true;
  if (pointer?.kind === 'context_key' && data.reason.category === 'user_only_dependency') {
    return hasAnswer(facts.context, pointer.key);
  }
  if (pointer?.kind !== 'capability') return false;
  const known = facts.capabilities[pointer.capability];
  return known?.grade === 'strong' && known.status === 'available';
}
