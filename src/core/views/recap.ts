import { RECAP_BYTES_MAX, RECAP_ENTRY_BYTES_MAX } from '../log/budgets.ts';
import type { EventOf } from '../log/event.ts';
import type { NodeId } from '../log/ids.ts';
import { TRUNCATION_MARKER, truncate, utf8Length } from '../text/utf8.ts';
import { addFact, emptyLineage, heldAt, type Lineage, type SharedList, withNewest } from './lineage.ts';
import type { RunNode } from './run-graph.ts';

type OutputAppended = EventOf<'node_output_appended'>;

/** An output of the recap channel. */
export type Note = OutputAppended & { readonly data: Extract<OutputAppended['data'], { outputChannel: 'recap' }> };

/** One note of a recap; `isCut` when it was longer than the budget of an entry. */
export type RecapEntry = {
  readonly nodeId: NodeId;
  readonly eventIndex: number;
  readonly text: string;
  readonly isCut: boolean;
};

/** The newest notes that fit, oldest first, and how many older ones there are. */
export type Recap = { readonly entries: readonly RecapEntry[]; readonly olderLeftOut: number };

type NoteFact = {
  readonly eventIndex: number;
  readonly note: Note;
  readonly isFirstCorrection: boolean;
  readonly isOfCheckpoint: boolean;
};
type NoteLine = {
  readonly count: number;
  readonly list: SharedList<Note> | undefined;
  /** The notes of checkpoints again: search needs them separately. */
  readonly ofCheckpoints: SharedList<Note> | undefined;
};

export type NotesView = Lineage<NoteLine, NoteFact>;

export function emptyNotes(): NotesView {
  return emptyLineage<NoteLine, NoteFact>({ count: 0, list: undefined, ofCheckpoints: undefined }, withNote);
}

/**
 * Adds a note to the recaps of its line. A checkpoint's note counts for the node it was made at, so that work continued
 * from there sees it; a blocked attempt's note is a draft, and no recap shows it.
 */
export function applyNote(notes: NotesView, note: Note, at: { node: RunNode; isFirstCorrection: boolean }): void {
  if (at.node.kind === 'blocked_attempt') return;
  const { eventIndex } = note;
  const isOfCheckpoint = at.node.kind === 'checkpoint';
  addFact(notes, at.node.hostNodeId, { eventIndex, note, isFirstCorrection: at.isFirstCorrection, isOfCheckpoint });
}

/** An output of the artifact channel. */
export type ArtifactOutput = OutputAppended & {
  readonly data: Extract<OutputAppended['data'], { outputChannel: 'artifact' }>;
};

/** The accepted artifacts of each node's line. */
export type ArtifactsView = Lineage<SharedList<ArtifactOutput> | undefined, ArtifactOutput>;

export function emptyArtifacts(): ArtifactsView {
  return emptyLineage<SharedList<ArtifactOutput> | undefined, ArtifactOutput>(undefined, withNewest);
}

/** Adds an artifact to its line, like a note: what a blocked attempt sent was not accepted. */
export function applyArtifact(artifacts: ArtifactsView, output: ArtifactOutput, { kind, hostNodeId }: RunNode): void {
  if (kind !== 'blocked_attempt') addFact(artifacts, hostNodeId, output);
}

/** The accepted artifacts of a node's line, newest first; only as many are visited as the caller takes. */
export function* newestArtifacts(artifacts: ArtifactsView, nodeId: NodeId): Generator<ArtifactOutput> {
  for (let at = heldAt(artifacts, nodeId); at !== undefined; at = at.older) yield at.newest;
}

/** Every note that a recap of the node may draw on, oldest first. */
export function recapSources(notes: NotesView, nodeId: NodeId): readonly Note[] {
  return newestNotes(heldAt(notes, nodeId).list, () => true).reverse();
}

/** The notes of checkpoints on a node's line, newest first, until the visitor returns false. */
export function checkpointNotes(notes: NotesView, nodeId: NodeId, isWanted: (note: Note) => boolean): readonly Note[] {
  return newestNotes(heldAt(notes, nodeId).ofCheckpoints, isWanted);
}

/** The notes of a node's line within a budget; where it is too small, the oldest notes are left out. */
export function recap(notes: NotesView, nodeId: NodeId, bytesMax: number): Recap {
  const { list, count } = heldAt(notes, nodeId);
  const entries: RecapEntry[] = [];
  const isWanted = withinBudget(entries, bytesMax);
  newestNotes(list, isWanted);
  return { entries: entries.reverse(), olderLeftOut: count - entries.length };
}

/** The notes between a node and a tip below it, without those above the node. */
export function recapBelow(
  notes: NotesView,
  { nodeId, tip, bytesMax }: { readonly nodeId: NodeId; readonly tip: NodeId; readonly bytesMax: number },
): Recap {
  const below = newestNotes(heldAt(notes, tip).list, () => true, heldAt(notes, nodeId).list);
  const entries: RecapEntry[] = [];
  const isWanted = withinBudget(entries, bytesMax);
  for (const note of below) if (!isWanted(note)) break;
  return { entries: entries.reverse(), olderLeftOut: below.length - entries.length };
}

/** A smaller budget is not divided: one readable note is worth more than the beginnings of two. */
const SHARED_BYTES_MIN = 512;

/** Takes notes, newest first, for as long as they fit. */
function withinBudget(entries: RecapEntry[], bytesMax: number): (note: Note) => boolean {
  // In a small budget a long note leaves other notes the same share as in the usual budget.
  const share = Math.floor((bytesMax * RECAP_ENTRY_BYTES_MAX) / RECAP_BYTES_MAX);
  const entryBytesMax = bytesMax < SHARED_BYTES_MIN ? bytesMax : Math.min(RECAP_ENTRY_BYTES_MAX, share);
  let bytesLeft = bytesMax;
  return (note) => {
    if (bytesMax < TRUNCATION_MARKER.length) return false;
    const entry = recapEntry(note, entryBytesMax);
    bytesLeft -= utf8Length(entry.text);
    if (bytesLeft >= 0) entries.push(entry);
    return bytesLeft >= 0;
  };
}

function recapEntry(note: Note, bytesMax: number): RecapEntry {
  const { notesMarkdown } = note.data.payload;
  const text = truncate(notesMarkdown, bytesMax);
  return { nodeId: note.scope.nodeId, eventIndex: note.eventIndex, text, isCut: text !== notesMarkdown };
}

/**
 * Walks back from the newest note, skipping superseded ones, until the visitor returns false. Notes of `above` are left
 * out; both lists are in order and share their tail, so the walk ends there.
 */
function newestNotes(
  list: SharedList<Note> | undefined,
  isWanted: (note: Note) => boolean,
  above?: SharedList<Note>,
): Note[] {
  const superseded = new Set<string>();
  const found: Note[] = [];
  let known = above;
  for (let at = list; at !== undefined; at = at.older) {
    const { eventIndex, data } = at.newest;
    while (known !== undefined && known.newest.eventIndex > eventIndex) known = known.older;
    if (at === known) break;
    if (data.supersedesOutputId !== undefined) superseded.add(data.supersedesOutputId);
    if (superseded.has(data.outputId) || known?.newest.eventIndex === eventIndex) continue;
    if (!isWanted(at.newest)) break;
    found.push(at.newest);
  }
  return found;
}

function withNote(line: NoteLine, { note, isFirstCorrection, isOfCheckpoint }: NoteFact): NoteLine {
  return {
    count: isFirstCorrection ? line.count : line.count + 1,
    list: withNewest(line.list, note),
    ofCheckpoints: isOfCheckpoint ? withNewest(line.ofCheckpoints, note) : line.ofCheckpoints,
  };
}
