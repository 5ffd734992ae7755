import type { Sha256 } from '../json/canonical-json.ts';
import { applyContextDeltas, isList, isObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { LoopPath } from '../log/ids.ts';
import { attemptDigest } from '../run/gate-facts.ts';
import type { Predicate } from './passport.ts';

/**
 * What the digest of an answer is about, by the events that a passport shows: `done`, what the step was done with;
 * `draft`, what it was asked about, while nothing else was done with it; `replaced`, a draft after which another one was
 * done; `other`, nothing in this passport; `unchecked`, events that it would take are withheld or do not say enough.
 */
export type DraftVerdict = {
  readonly kind: 'done' | 'draft' | 'replaced' | 'other' | 'unchecked';
  /** The event that created the node of the step. */
  readonly step?: number;
  /** The event that recorded the step as done with it. */
  readonly end?: number;
};

/**
 * Computes the digest of an answer again. Whatever is tried here is read from events that somebody may have made up: only
 * the texts that the person was shown lead to the digest that the person signed.
 */
export function draftVerdict(
  { events, log }: Pick<Predicate, 'events'> & { readonly log: Pick<Predicate['log'], 'appends'> },
  answer: number,
  sha256: Sha256,
): DraftVerdict {
  const shown = events.flatMap((item, index) => (item === null ? [] : [readEvent(item.event, index)]));
  const said = shown.find(({ index }) => index === answer);
  const nodes = new Map(shown.filter(({ kind }) => kind === 'node_created').map((event) => [event.nodeId, event]));
  const subject = at(said?.data, 'subject');
  const lineOf = (nodeId: JsonValue | undefined): readonly ShownEvent[] => {
    const node = nodes.get(nodeId);
    nodes.delete(nodeId);
    const above = node === undefined ? [] : lineOf(node.data['parentNodeId']);
    if (node !== undefined) nodes.set(nodeId, node);
    return node === undefined ? [] : [...above, node];
  };
  const line = lineOf(said?.nodeId);
  const own = line.findLast(isStep);
  if (own === undefined || subject === undefined) return { kind: 'unchecked' };
  const isTried = ({ nodeId }: ShownEvent) => lineOf(nodeId).findLast(isStep) === own;
  const attempts = [...nodes.values()].filter(isTried);
  const done = [...nodes.values()].filter(
    (node) => isStep(node) && attempts.some(({ nodeId }) => nodeId === node.data['parentNodeId']),
  );
  const step = own.index;
  const place = { shown, subject, own, attempts, lineOf, sha256 };
  const isOf = (node: ShownEvent | undefined) => node !== undefined && isDraftOf(node, place);
  const found = done.find((node) => node.index > answer && isOf(node));
  // Nobody hands in anything for a step in the append that creates it, which for the first one also has what was observed.
  const next = endOfAppend(own.index, log);
  const begin = (found?.index ?? next) < next ? own.index : next;
  const isWhole = (from: number, until: number) => !events.slice(from, until + 1).includes(null);
  if (found !== undefined) {
    const end = endOf(found, shown);
    return { kind: isWhole(begin, end) ? 'done' : 'unchecked', step, end };
  }
  if (isOf(line.at(-1))) {
    const isAnotherDone = at(said?.data, 'statement')?.['kind'] !== 'rejected' && done.length > 0;
    return { kind: isAnotherDone ? 'replaced' : 'draft', step };
  }
  const isPlain = shown.every(({ kind, data }) => kind !== 'decision_trace_appended' || !hasLoop(data));
  return { kind: isPlain && isWhole(own.index, events.length - 1) ? 'other' : 'unchecked', step };
}

type ShownEvent = {
  readonly index: number;
  readonly kind: JsonValue | undefined;
  readonly data: JsonObject;
  readonly runId: JsonValue | undefined;
  readonly nodeId: JsonValue | undefined;
};

function readEvent(event: JsonObject, index: number): ShownEvent {
  const scope = at(event, 'scope');
  return {
    index,
    kind: event['kind'],
    data: at(event, 'data') ?? {},
    runId: scope?.['runId'],
    nodeId: scope?.['nodeId'],
  };
}

function at(value: JsonObject | undefined, name: string): JsonObject | undefined {
  const found = value?.[name];
  return found !== undefined && isObject(found) ? found : undefined;
}

/** An object by its name as a list: empty where there is none. */
function each(value: JsonObject | undefined, name: string): readonly JsonObject[] {
  const found = at(value, name);
  return found === undefined ? [] : [found];
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return value !== undefined && isList(value) ? value.filter((item) => isObject(item)) : [];
}

function textsOf(values: readonly (JsonValue | undefined)[]): readonly string[] {
  return [...new Set(values.filter((value) => typeof value === 'string'))];
}

function isStep({ data }: ShownEvent): boolean {
  return data['nodeKind'] === 'step';
}

function hasLoop(data: JsonObject): boolean {
  return objectsIn(data['entries']).some(({ refs }) => objectsIn(refs).some(({ kind }) => kind === 'loop_id'));
}

/** The event after the append that an event is in. */
function endOfAppend(index: number, { appends }: Pick<Predicate['log'], 'appends'>): number {
  const ends = appends.map((append) => ('record' in append ? append.record : append).lastEventIndex + 1);
  return ends.find((end) => end > index) ?? index;
}

/** The event that recorded a step as done; nothing is handed in with it afterwards. */
function endOf({ nodeId, index }: ShownEvent, shown: readonly ShownEvent[]): number {
  return shown.find(({ data }) => at(data, 'outcome')?.['toNodeId'] === nodeId)?.index ?? index;
}

type Place = {
  readonly shown: readonly ShownEvent[];
  readonly subject: JsonObject;
  readonly own: ShownEvent;
  readonly attempts: readonly ShownEvent[];
  readonly lineOf: (nodeId: JsonValue | undefined) => readonly ShownEvent[];
  readonly sha256: Sha256;
};

/** What was handed in with nodes of one step, of which the last one is first: the newest notes, and all artifacts. */
function handedIn(nodes: readonly (JsonValue | undefined)[], { shown }: Place) {
  const outputs = shown.filter((event) => event.kind === 'node_output_appended' && nodes.includes(event.nodeId));
  const replaced = outputs.map(({ data }) => data['supersedesOutputId']);
  const standing = outputs.filter(({ data }) => !replaced.includes(data['outputId']));
  const payloads = (channel: string) =>
    standing.filter(({ data }) => data['outputChannel'] === channel).flatMap(({ data }) => each(data, 'payload'));
  const written = nodes.find((node) =>
    standing.some(({ nodeId, data }) => nodeId === node && data['outputChannel'] === 'recap'),
  );
  const notes = standing.filter(({ nodeId, data }) => nodeId === written && data['outputChannel'] === 'recap');
  const [notesMarkdown] = textsOf(
    notes.flatMap(({ data }) => each(data, 'payload')).map((one) => one['notesMarkdown']),
  );
  const artifacts = textsOf(payloads('artifact').map((payload) => payload['sha256'])).map((ref) => ({
    ref: { sha256: ref },
  }));
  return { notesMarkdown, artifacts };
}

/** Whether the answer is about what was handed in with a node. A blocked attempt keeps what the ones before it sent. */
function isDraftOf(node: ShownEvent, place: Place): boolean {
  const { shown, subject, own, lineOf, sha256 } = place;
  const { nodeId } = node;
  const tried = lineOf(nodeId).map((one) => one.nodeId);
  const since = tried.slice(tried.indexOf(own.nodeId) + 1).reverse();
  const drafts = isStep(node)
    ? [handedIn([nodeId], place)]
    : since.map((_, i) => handedIn(since.slice(0, i + 1), place));
  const contextAt = (id: JsonValue | undefined) => {
    const line = lineOf(id).map((node) => node.nodeId);
    const sets = shown.filter((event) => event.kind === 'context_set' && event.runId === own.runId);
    const deltas = sets.filter((event) => event.nodeId === undefined || line.includes(event.nodeId));
    return applyContextDeltas(
      {},
      deltas.flatMap(({ data }) => each(data, 'context')),
    );
  };
  const [contextBefore, context] = [contextAt(own.nodeId), contextAt(nodeId)];
  const { workflowHash, snapshotRef } = own.data;
  const workspace = subject['workspace'];
  const { stepIds, questions, keys } = candidatesOf(place);
  const paths = loopPathsOf(place);
  return stepIds.some((stepId) =>
    paths.some((loopPath) => {
      const names = {
        workflowHash,
        runId: own.runId,
        nodeId: own.nodeId,
        stepId,
        loopPath,
        snapshotRef,
        contextBefore,
      };
      const bound = { ...names, ...(workspace === undefined ? {} : { workspace }) } as never;
      return questions.some((question) =>
        [undefined, ...keys].some((gateKey) =>
          drafts.some((sent) => {
            const draft = { handedIn: sent, context, question, gateKey };
            return attemptDigest({ subject: bound, sha256 }, draft) === subject['digest'];
          }),
        ),
      );
    }),
  );
}

const QUESTION = /waits for a person(?: again)?: (.+)$/s;

/** The steps, questions and keys that the blocks of a step name. */
function candidatesOf({ shown, own, attempts }: Place) {
  const tried = attempts.map(({ nodeId }) => nodeId);
  const blockers = shown.flatMap(({ kind, data }) => {
    const outcome = kind === 'advance_recorded' ? at(data, 'outcome') : undefined;
    return tried.includes(outcome?.['attemptNodeId']) ? objectsIn(outcome?.['blockers']) : [];
  });
  const traced = shown
    .filter(({ kind, nodeId }) => kind === 'decision_trace_appended' && nodeId === own.nodeId)
    .flatMap(({ data }) => objectsIn(data['entries']).flatMap(({ refs }) => objectsIn(refs)));
  const pointers = blockers.flatMap((blocker) => each(blocker, 'pointer'));
  return {
    stepIds: textsOf([...pointers, ...traced].map(({ stepId }) => stepId)),
    questions: textsOf(blockers.map(({ message }) => QUESTION.exec(String(message))?.[1])),
    keys: textsOf(pointers.map(({ key }) => key)),
  };
}

/** The places in loops that the checks of a step name, and no loop. */
function loopPathsOf({ shown, own }: Place): readonly LoopPath[] {
  const subjects = shown.flatMap(({ data }) => each(data, 'subject'));
  const same = subjects.filter((subject) => subject['snapshotRef'] === own.data['snapshotRef']);
  return [[], ...same.map(({ loopPath }) => objectsIn(loopPath) as unknown as LoopPath)];
}
