/** One call of an agent, the same for every time it is sent. */
export type AgentCall = {
  readonly tool: string;
  readonly arguments: object;
  /** Names a start, so that it is carried out once. */
  readonly callId?: string;
};

/** A reply that an agent got, and relies on from then on. */
export type Acknowledged = {
  readonly agent: number;
  readonly space: string;
  readonly call: AgentCall;
  /** The result as it was sent. */
  readonly reply: string;
  /** When the call was first sent and when the reply was heard, on one clock. */
  readonly sentAt: number;
  readonly heardAt: number;
  /** How often a rotation of the keys had begun or ended when the call was sent and when the reply was heard. */
  readonly rotations: readonly [number, number];
};

/** Something that must never happen. */
export type Violation = {
  readonly kind:
    | 'lost'
    | 'twice'
    | 'stranger'
    | 'fork'
    | 'differs'
    | 'out_of_order'
    | 'damaged'
    | 'dangling'
    | 'leaked'
    | 'refused'
    | 'unanswered';
  readonly what: string;
  /** When somebody heard what is lost. */
  readonly heardAt?: number;
};

/** What agents sent and heard, and what was wrong with it. */
export type Journal = {
  readonly acknowledged: Acknowledged[];
  /** Every call that was ever sent, answered or not. */
  readonly sent: Set<{ readonly space: string; readonly call: AgentCall }>;
  readonly violations: Violation[];
  readonly counts: { replays: number; doubles: number; tries: number };
  /** Names what is wrong if the same call has got another reply before. */
  readonly hear: (heard: Acknowledged) => void;
};

export function newJournal(spaces: readonly string[]): Journal {
  const first = new Map<string, Acknowledged>();
  const journal: Journal = {
    acknowledged: [],
    sent: new Set(),
    violations: [],
    counts: { replays: 0, doubles: 0, tries: 0 },
    hear: (heard) => {
      journal.acknowledged.push(heard);
      const others = spaces.filter((space) => space !== heard.space);
      for (const other of others.filter((space) => heard.reply.includes(secretOf(space)))) {
        journal.violations.push({ kind: 'leaked', what: `agent ${heard.agent} of ${heard.space} read about ${other}` });
      }
      const key = JSON.stringify([heard.space, heard.call]);
      const before = first.get(key);
      if (before === undefined) first.set(key, heard);
      else if (!isRead(heard.call) && !isSameReply(before, heard)) {
        const what = `agent ${heard.agent} got two replies to one call: ${difference(before.reply, heard.reply)}`;
        journal.violations.push({ kind: 'differs', what, heardAt: before.heardAt });
      }
    },
  };
  return journal;
}

const SHOWN = 120;

function difference(one: string, other: string): string {
  const at = [...one].findIndex((character, index) => character !== other[index]);
  const shown = (text: string) => text.slice(Math.max(0, at - SHOWN), at + SHOWN);
  return `${shown(one)}\n  ${shown(other)}`;
}

/** Its reply follows what others do. */
function isRead({ tool, arguments: args }: AgentCall): boolean {
  return tool === 'resume_session' || ('stateToken' in args && !('ackToken' in args));
}

/** What only agents of a space write and may read. */
export function secretOf(space: string): string {
  return `secret of ${space}`;
}

/** A rotation of the keys changes how tokens are signed, and nothing else. */
function isSameReply(one: Acknowledged, other: Acknowledged): boolean {
  const rotations = new Set([...one.rotations, ...other.rotations]);
  return rotations.size === 1 && one.rotations[0] % 2 === 0
    ? one.reply === other.reply
    : unsigned(one.reply) === unsigned(other.reply);
}

/** Prefix, tag, and as many characters as name the place; the rest is the signature. */
const TOKEN = /\b((?:st|ack|chk)_[0-9a-z]{4}[0-9a-z]{27})[0-9a-z]{17}\b/g;

function unsigned(text: string): string {
  return text.replaceAll(TOKEN, '$1');
}

export function withoutTokens(text: string): string {
  return text.replaceAll(TOKEN, 'TOKEN').replaceAll(/\bsess_[0-9a-z]{16}\b/g, 'SESSION');
}
