/** What a tool gave back, as any client hands it on. */
export type Reply = {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Record<string, unknown>;
};

export type Call = { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };

/** A client may show its model the data of a reply or the text of it; the reader never looks at both. */
export type Sight = 'data' | 'text';

/** All that the reader understands of a reply. */
export type Reading = {
  /** What the reply says to send. */
  readonly next: Call | undefined;
  /** The step was done before: how to get to where that work stands now. */
  readonly rejoin: Call | undefined;
  readonly isComplete: boolean;
};

/** Puts values of its own in the place of those that the filler chose. */
export type OwnValues = { readonly notes: (filled: string) => string; readonly decision: (filled: string) => string };

export function readReply({ content, structuredContent = {} }: Reply, sight: Sight): Reading {
  return sight === 'data' ? readData(structuredContent) : readText(content.map(({ text }) => text ?? '').join('\n'));
}

function readData(data: Record<string, unknown>): Reading {
  const error = field(data, 'error');
  const preferred = field(field(data, 'branch'), 'preferred');
  const stateToken = field(preferred, 'stateToken');
  return {
    next: callOf(field(data, 'nextCall') ?? field(error, 'nextCall')),
    rejoin: typeof stateToken === 'string' ? { tool: 'continue_workflow', arguments: { stateToken } } : undefined,
    isComplete: field(data, 'isComplete') === true,
  };
}

function readText(text: string): Reading {
  const call = (lead: string) => {
    const [, tool, json] = new RegExp(`^${lead} (\\w+) (\\{.*\\})$`, 'm').exec(text) ?? [];
    return tool === undefined || json === undefined ? undefined : callOf({ tool, arguments: JSON.parse(json) });
  };
  return {
    next: call('Next call:'),
    rejoin: call('To continue where the run is now:') ?? call('To see the result of the run:'),
    isComplete: /^Run \w{4} · .* · complete$/m.test(text),
  };
}

function callOf(value: unknown): Call | undefined {
  const tool = field(value, 'tool');
  const given = field(value, 'arguments');
  return typeof tool === 'string' && isObject(given) ? { tool, arguments: given } : undefined;
}

/** The filled call with the reader's own notes and decisions in it. */
export function withOwnValues(call: Call, own: OwnValues): Call {
  return { ...call, arguments: filled(call.arguments, own) as Call['arguments'] };
}

function filled(value: unknown, own: OwnValues): unknown {
  if (Array.isArray(value)) return value.map((item) => filled(item, own));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    if (typeof inner !== 'string') return [name, filled(inner, own)];
    if (name === 'notesMarkdown') return [name, own.notes(inner)];
    return [name, name === 'decision' && value['kind'] === 'wr.loop_control' ? own.decision(inner) : inner];
  });
  return Object.fromEntries(entries);
}

function field(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
