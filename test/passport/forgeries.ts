import { EVENT_KINDS, type SessionEvent, takeAsParsed } from '../../src/core/log/event.ts';
import { type SeededRandom, seededRandom } from '../simulation/seeded-random.ts';
import { numberedSession } from '../store-folder.ts';
import { drawnSeed } from '../volume.ts';
import { type Log, randomLog, type WrittenLog } from './random-passports.ts';

/** What a forger wants to change, and how far back: everything from this append on is another history. */
export type Forged = { readonly log: Log; readonly from: number };
type Forge = (log: Log, other: Log, random: SeededRandom) => Forged | undefined;

/** Ways to make a log say something else that are about what it says. Each finds its place at random. */
const OF_CONTENT: { readonly [kind: string]: Forge } = {
  'edited notes': (log, _, random) =>
    edit(log, { random, kind: 'node_output_appended' }, (data) =>
      'notesMarkdown' in (data['payload'] as object)
        ? { ...data, payload: { ...(data['payload'] as object), notesMarkdown: 'All 240 tests passed.' } }
        : undefined,
    ),
  'edited context': (log, _, random) =>
    edit(log, { random, kind: 'context_set' }, (data) => ({ ...data, context: { goal: 'something else' } })),
  'raised grade': (log, _, random) =>
    edit(log, { random, kind: 'advance_recorded' }, (data) => ({
      ...data,
      checks: [{ stepId: 'one', checkId: 'tests', minimum: 'observed', grade: 'verified' }],
    })),
  'failed check that passed': (log, _, random) =>
    edit(log, { random, kind: 'attestation_recorded' }, (data) => ({
      ...data,
      statement: { ...(data['statement'] as object), exitCode: 7 },
    })),
  'rejection made an approval': (log, _, random) =>
    edit(log, { random, kind: 'attestation_recorded' }, (data) => ({
      ...data,
      statement: { kind: 'approved', shown: 'part' },
    })),
  'attestation on another tree': (log, _, random) =>
    edit(log, { random, kind: 'attestation_recorded' }, (data) => ({
      ...data,
      statement: { ...(data['statement'] as object), treeDigest: `sha256:${'9'.repeat(64)}` },
    })),
  'attestation in another round': (log, _, random) =>
    edit(log, { random, kind: 'attestation_recorded' }, (data) => ({
      ...data,
      subject: {
        kind: 'step',
        stepId: 'one',
        loopPath: [{ loopId: 'l', iteration: 2 }],
        snapshotRef: `sha256:${'e'.repeat(64)}`,
      },
    })),
  'attestation on another branch': (log, _, random) => moved(log, random, 'nodeId'),
  'attestation in another run': (log, _, random) => moved(log, random, 'runId'),
  'attestation of another session': (log, other, random) => {
    const stolen = pick(other, random, (event) => event.kind === 'attestation_recorded');
    const target = pick(log, random, (event) => event.kind === 'attestation_recorded');
    if (stolen === undefined || target === undefined) return undefined;
    return replaced(log, target, { ...target.event, data: stolen.event.data });
  },
  'swapped workflow': (log, _, random) =>
    edit(log, { random, kind: 'run_started' }, (data) => ({ ...data, workflowHash: `sha256:${'5'.repeat(64)}` })),
  'dropped append': (log, _, random) => {
    const from = random.below(log.appends.length);
    return log.appends.length < 2
      ? undefined
      : { log: numbered({ ...log, appends: log.appends.filter((__, i) => i !== from) }), from };
  },
  'reordered appends': (log, _, random) => {
    if (log.appends.length < 3) return undefined;
    const from = 1 + random.below(log.appends.length - 2);
    const appends = [...log.appends];
    [appends[from], appends[from + 1]] = [appends[from + 1] as never, appends[from] as never];
    return { log: numbered({ ...log, appends }), from };
  },
  'reordered events': (log, _, random) => {
    const from = random.below(log.appends.length);
    const events = log.appends[from] ?? [];
    return events.length < 2
      ? undefined
      : { log: numbered({ ...log, appends: log.appends.with(from, events.toReversed()) }), from };
  },
  'repeated append': (log, _, random) => {
    const from = random.below(log.appends.length);
    return {
      log: numbered({ ...log, appends: log.appends.toSpliced(from, 0, log.appends[from] ?? []) }),
      from: from + 1,
    };
  },
  'splice of two sessions': (log, other, random) => {
    const from = random.below(log.appends.length);
    const rest = other.appends
      .slice(from)
      .map((events) => events.map((event) => takeAsParsed({ ...event, sessionId: log.sessionId })));
    return rest.length === 0
      ? undefined
      : { log: numbered({ ...log, appends: [...log.appends.slice(0, from), ...rest] }), from };
  },
  'joined appends': (log, _, random) => {
    if (log.appends.length < 2) return undefined;
    const from = random.below(log.appends.length - 1);
    const joined = [...(log.appends[from] ?? []), ...(log.appends[from + 1] ?? [])];
    return { log: { ...log, appends: log.appends.toSpliced(from, 2, joined) }, from };
  },
  'cut tail': (log, _, random) => {
    const from = 1 + random.below(Math.max(1, log.appends.length - 1));
    return from >= log.appends.length ? undefined : { log: { ...log, appends: log.appends.slice(0, from) }, from };
  },
  'added append': (log, other) => {
    const extra = other.appends.at(-1)?.map((event) => takeAsParsed({ ...event, sessionId: log.sessionId })) ?? [];
    return { log: numbered({ ...log, appends: [...log.appends, extra] }), from: log.appends.length };
  },
};

/** Ways to tamper with one event, whatever it says. */
const OF_ONE_EVENT: {
  readonly [way: string]: (at: Place, log: Log, stolen: SessionEvent | undefined) => Forged | undefined;
} = {
  dropped: (at, log) => {
    const events = (log.appends[at.append] ?? []).filter((event) => event !== at.event);
    if (events.length === 0) return undefined;
    return { log: numbered({ ...log, appends: log.appends.with(at.append, events) }), from: at.append };
  },
  repeated: ({ append, place, event }, log) => {
    const events = (log.appends[append] ?? []).toSpliced(place, 0, event);
    return { log: numbered({ ...log, appends: log.appends.with(append, events) }), from: append };
  },
  're-dated': (at, log) => replaced(log, at, { ...at.event, at: 1 }),
  'said by somebody else:': (at, log) => replaced(log, at, { ...at.event, by: { via: 'team', principal: 'the boss' } }),
  'moved to the next append:': ({ append, event }, log) => {
    const [here = [], next] = log.appends.slice(append, append + 2);
    if (next === undefined || here.length === 1) return undefined;
    const rest = here.filter((one) => one !== event);
    return {
      log: numbered({ ...log, appends: log.appends.toSpliced(append, 2, rest, [event, ...next]) }),
      from: append,
    };
  },
  'taken from another session:': (at, log, stolen) =>
    stolen && replaced(log, at, { ...stolen, sessionId: log.sessionId, eventIndex: at.event.eventIndex }),
};

/** Every way to make a log say something else, by kind. */
const FORGERIES: { readonly [kind: string]: Forge } = {
  ...OF_CONTENT,
  ...Object.fromEntries(
    EVENT_KINDS.flatMap((kind) =>
      Object.entries(OF_ONE_EVENT).map(([way, forge]): readonly [string, Forge] => [
        `${way} ${kind}`,
        (log, other, random) => {
          const isFit = (event: SessionEvent) => event.kind === kind;
          const at = pick(log, random, isFit);
          return at && forge(at, log, pick(other, random, isFit)?.event);
        },
      ]),
    ),
  ),
};

/** A log, and what became of it. */
export type Forgery = { readonly kind: string; readonly log: WrittenLog; readonly made: Forged };

/** Logs that together have a place for every forgery, each with another one to take things from. */
export const PAIRS: readonly { readonly log: WrittenLog; readonly other: WrittenLog }[] = (() => {
  const logAt = (seed: number) => randomLog(seed, 24, { sessionId: numberedSession(seed) });
  const logs = [25, 26, 27, 28, 29, 30].map(logAt);
  for (let seed = 31; !logs.some(hasOtherRun); seed++) logs.push(logAt(seed));
  return logs.map((log, i) => ({ log, other: logs[(i + 1) % logs.length] ?? log }));
})();

/** Random logs rarely have an attestation and a second run. */
function hasOtherRun({ appends }: Log): boolean {
  const events = appends.flat();
  const runs = new Set(events.flatMap(({ scope }) => scope?.runId ?? []));
  return runs.size > 1 && events.some(({ kind }) => kind === 'attestation_recorded');
}

const TRIES = 20;

/** Each kind so many times, at a place that the seed decides. */
export function forgeriesOf(rounds: number): readonly Forgery[] {
  return Array.from({ length: rounds }, (_, round) =>
    Object.entries(FORGERIES).map((one) => forged(one, round)),
  ).flat();
}

function forged([kind, forge]: readonly [string, Forge], round: number): Forgery {
  const random = seededRandom(round * 31 + kind.length + (drawnSeed() % 1_000));
  for (let tried = 0; tried < TRIES; tried++) {
    for (const { log, other } of PAIRS) {
      const made = forge(log, other, random);
      if (made !== undefined) return { kind, log, made };
    }
  }
  throw new Error(`no log has a place for: ${kind}`);
}

type Place = { readonly append: number; readonly place: number; readonly event: SessionEvent };

function pick(log: Log, random: SeededRandom, isFit: (event: SessionEvent) => boolean): Place | undefined {
  const places = log.appends.flatMap((events, append) => events.map((event, place) => ({ append, place, event })));
  const fit = places.filter(({ event }) => isFit(event));
  return fit.length === 0 ? undefined : random.pick(fit);
}

function replaced(log: Log, { append, place }: Place, event: object): Forged {
  const events = (log.appends[append] ?? []).with(place, takeAsParsed(event));
  return { log: { ...log, appends: log.appends.with(append, events) }, from: append };
}

function edit(
  log: Log,
  { random, kind }: { readonly random: SeededRandom; readonly kind: SessionEvent['kind'] },
  change: (data: { readonly [name: string]: unknown }) => object | undefined,
): Forged | undefined {
  const at = pick(log, random, (event) => event.kind === kind);
  const data = at && change(at.event.data as never);
  if (at === undefined || data === undefined || JSON.stringify(data) === JSON.stringify(at.event.data))
    return undefined;
  return replaced(log, at, { ...at.event, data });
}

/** An attestation at another node or in another run of the same session. */
function moved(log: Log, random: SeededRandom, field: 'nodeId' | 'runId'): Forged | undefined {
  const at = pick(log, random, (event) => event.kind === 'attestation_recorded');
  const scope = at?.event.scope as { readonly [name: string]: string } | undefined;
  const other = pick(
    log,
    random,
    ({ scope: found }) => found?.[field] !== undefined && found[field] !== scope?.[field],
  );
  if (at === undefined || other === undefined) return undefined;
  const there = (other.event.scope as { readonly [name: string]: string })[field];
  return replaced(log, at, { ...at.event, scope: { ...scope, [field]: there } });
}

/** A forger counts the events again. */
function numbered(log: Log): Log {
  let next = 0;
  const appends = log.appends.map((events) => events.map((event) => takeAsParsed({ ...event, eventIndex: next++ })));
  return { ...log, appends };
}
