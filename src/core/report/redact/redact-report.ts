import type { Report, ReportRun, ReportSession } from '../report.ts';
import { findSecrets, type KnownFolders } from './find-secrets.ts';
import { redactNote } from './redact-note.ts';
import { hiddenMarker, SECRET_KINDS, type SecretKind } from './secret-kinds.ts';
import { isKeyLike, isNamedSecret, isSecretName } from './secret-names.ts';

/**
 * Hides secrets in every text of a report and lists what was hidden. Ids, hashes and words of closed sets are texts
 * like any other here: none of them looks like a secret.
 */
export function redactReport(report: Report, { homes = [] }: { readonly homes?: readonly string[] } = {}): Report {
  const workspaces = report.sessions.flatMap(({ workspace }) =>
    workspace.flatMap(({ key, value }) => (key === 'repo_root' ? [value] : [])),
  );
  const folders: KnownFolders = { homes: [...new Set(homes)], workspaces: [...new Set(workspaces)] };
  const counts = new Map<SecretKind, number>();
  const onHidden = (kind: SecretKind) => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const hide = (kind: SecretKind) => {
    onHidden(kind);
    return hiddenMarker(kind);
  };
  // Most texts of a report are names and ids that stand in it many times.
  const clean = new Set<string>();
  const redact = (text: string) => {
    if (clean.has(text)) return text;
    const told = redactText(text, folders, onHidden);
    if (told === text) clean.add(text);
    return told;
  };
  const hiding: Hiding = {
    value: (value) => redactValue(value, { redact, hide: () => hide('password') }),
    note: (markdown) => redactNote(markdown, folders, onHidden),
    root: () => hide('workspace path'),
  };
  const sessions = report.sessions.map((session) => redactSession(session, hiding));
  const hidden = SECRET_KINDS.flatMap((kind) => {
    const count = counts.get(kind);
    return count === undefined ? [] : [{ kind, count }];
  });
  return { ...report, isRedacted: true, hidden, sessions };
}

type Hiding = {
  readonly value: <Value>(value: Value) => Value;
  readonly note: (markdown: string) => string;
  readonly root: () => string;
};

/** Parts that are hidden in ways of their own keep their place, so that reports look alike. */
function redactSession(session: ReportSession, hiding: Hiding): ReportSession {
  return {
    ...hiding.value({ ...session, workspace: [], runs: [] }),
    workspace: session.workspace.flatMap((fact) => {
      // Whoever guesses a path can find it again by its hash.
      if (fact.key === 'repo_root_hash') return [];
      // A root that is short is not looked for in texts; as a root it is hidden all the same.
      return [fact.key === 'repo_root' ? { ...fact, value: hiding.root() } : hiding.value(fact)];
    }),
    runs: session.runs.map((run) => redactRun(run, hiding)),
  };
}

function redactRun(run: ReportRun, hiding: Hiding): ReportRun {
  return {
    ...hiding.value({ ...run, entries: [] }),
    entries: run.entries.map((entry) => ({
      ...hiding.value({ ...entry, notes: [] }),
      notes: entry.notes.map((note) => ({ ...note, markdown: hiding.note(note.markdown) })),
    })),
  };
}

export type ValueRedaction = {
  /** A text with its secrets hidden. */
  readonly redact: (text: string) => string;
  /** Stands for all of a value. */
  readonly hide: () => string;
};

/** The same value with its secrets hidden: in its texts, and all that stands under a name that says so, however deep. */
export function redactValue<Value>(value: Value, redaction: ValueRedaction): Value {
  return redacted(value, redaction, undefined) as Value;
}

/** `name` is the innermost name around the value that says that it is secret. */
function redacted(value: unknown, redaction: ValueRedaction, name: string | undefined): unknown {
  if (typeof value === 'string' || typeof value === 'number') {
    if (name !== undefined && isNamedSecret(name, value)) return redaction.hide();
    return typeof value === 'string' ? redaction.redact(value) : value;
  }
  if (Array.isArray(value)) {
    const named = pairIn(value);
    return value.map((item, i) => redacted(item, redaction, i === 1 && named !== undefined ? named : name));
  }
  if (typeof value !== 'object' || value === null) return value;
  const told = nameToldIn(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const isTold = told !== undefined && VALUE_FIELD.test(key);
      const innerName = isSecretName(key) ? key : isTold ? told : name;
      return [redaction.redact(key), redacted(item, redaction, innerName)];
    }),
  );
}

const NAME_FIELD = /^(?:name|key|id|field|label|header|variable|setting)$/i;
const VALUE_FIELD = /^(?:values?|val|content|data|default|current|text)$/i;

/** `{ name: 'DB_PASSWORD', value: … }` says in one field what the other is. */
function nameToldIn(value: object): string | undefined {
  const told = Object.entries(value).find(
    ([key, name]) => NAME_FIELD.test(key) && typeof name === 'string' && isSecretName(name),
  );
  return told?.[1];
}

/** `['password', …]`, where the second looks like one; it may also be a list of names. */
function pairIn(value: readonly unknown[]): string | undefined {
  const [name, item] = value;
  const isPair = value.length === 2 && typeof name === 'string' && typeof item === 'string';
  return isPair && isSecretName(name) && isKeyLike(item) ? name : undefined;
}

/** A text with all that looks like a secret hidden, each telling its kind to the counter. */
export function redactText(text: string, folders: KnownFolders, onHidden: (kind: SecretKind) => void): string {
  const secrets = findSecrets(text, folders);
  if (secrets.length === 0) return text;
  const parts: string[] = [];
  let at = 0;
  for (const { from, to, kind } of secrets) {
    parts.push(text.slice(at, from), hiddenMarker(kind));
    onHidden(kind);
    at = to;
  }
  parts.push(text.slice(at));
  return parts.join('');
}
