import { isObject, type JsonObject } from '../../json/json-value.ts';
import type { Report } from '../report.ts';
import { findSecrets, hasAccessSecret, type KnownFolders } from './find-secrets.ts';
import { hider, redactNote } from './redact-note.ts';
import { hiddenMarker, SECRET_KINDS, type SecretKind } from './secret-kinds.ts';
import { isKeyLike, isNamedSecret, isSecretName } from './secret-names.ts';

/**
 * Hides secrets in every text of a report and lists what was hidden. Ids, hashes and words of closed sets are treated
 * like any other text: none of them looks like a secret.
 */
export function redactReport(report: Report, { homes = [] }: { readonly homes?: readonly string[] } = {}): Report {
  const sessions = report.sessions.map((session) => ({
    ...session,
    // Anyone who guesses a path could check the guess against its hash.
    workspace: session.workspace.filter(({ key }) => key !== 'repo_root_hash'),
  }));
  const shown = publicParts(sessions.map(({ signature }) => signature));
  const notes = new Set<object>(
    sessions.flatMap(({ runs }) => runs.flatMap(({ entries }) => entries.flatMap((entry) => entry.notes))),
  );
  const roots = new Set<object>(
    sessions.flatMap(({ workspace }) => workspace.filter(({ key }) => key === 'repo_root')),
  );
  const workspaces = sessions.flatMap(({ workspace }) =>
    workspace.flatMap(({ key, value }) => (key === 'repo_root' ? [value] : [])),
  );
  const folders: KnownFolders = { homes: [...new Set(homes)], workspaces: [...new Set(workspaces)] };
  const counts = new Map<SecretKind, number>();
  const onHidden = (kind: SecretKind) => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const hide = (kind: SecretKind) => {
    onHidden(kind);
    return hiddenMarker(kind);
  };
  // Most texts of a report are names and ids that occur many times.
  const clean = new Set<string>();
  const redact = (text: string) => {
    if (clean.has(text)) return text;
    const redacted = redactText(text, folders, onHidden);
    if (redacted === text) clean.add(text);
    return redacted;
  };
  const redactField = (parent: object, key: string, value: unknown) => {
    if (key === 'markdown' && notes.has(parent)) return redactNote(String(value), folders, onHidden);
    if ((key === 'log' || key === 'head') && shown.has(value)) return value;
    // A short root is not searched for in texts, but where it is recorded it is always hidden.
    return key === 'value' && roots.has(parent) ? hide('workspace path') : undefined;
  };
  const redacted = redactValue(sessions, { redact, hide: () => hide('password'), redactField });
  const hidden = SECRET_KINDS.flatMap((kind) => {
    const count = counts.get(kind);
    return count === undefined ? [] : [{ kind, count }];
  });
  return { ...report, isRedacted: true, hidden, sessions: redacted };
}

type Signature = NonNullable<Report['sessions'][number]['signature']>;

/** The head and the ids of keys are public, and are shown to be compared. They only look random. */
function publicParts(signatures: readonly (Signature | undefined)[]): ReadonlySet<unknown> {
  return new Set(signatures.flatMap((one) => (one === undefined ? [] : [one.log, one.head])).filter((one) => one));
}

export type ValueRedaction = {
  /** A text with its secrets hidden. */
  readonly redact: (text: string) => string;
  /** What replaces a whole value. */
  readonly hide: () => string;
  /** Fields that are redacted in their own way; `undefined` for all others. */
  readonly redactField?: (parent: object, key: string, value: unknown) => unknown;
};

/** The same value with its secrets hidden: in its texts, and everything under a secret name, however deep. */
export function redactValue<Value>(value: Value, redaction: ValueRedaction): Value {
  return redacted(value, redaction, undefined) as Value;
}

/** `name` is the innermost secret name around the value. */
function redacted(value: unknown, redaction: ValueRedaction, name: string | undefined): unknown {
  if (typeof value === 'string' || typeof value === 'number') {
    if (name !== undefined && isNamedSecret(name, value)) return redaction.hide();
    return typeof value === 'string' ? redaction.redact(value) : value;
  }
  if (Array.isArray(value)) {
    const named = pairIn(value);
    return value.map((item, i) => redacted(item, redaction, i === 1 && named !== undefined ? named : name));
  }
  if (!isObject(value)) return value;
  const named = nameFieldIn(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const isNamed = named !== undefined && VALUE_FIELD.test(key);
      const innerName = isSecretName(key) ? key : isNamed ? named : name;
      return [redaction.redact(key), redaction.redactField?.(value, key, item) ?? redacted(item, redaction, innerName)];
    }),
  );
}

const NAME_FIELD = /^(?:name|key|id|field|label|header|variable|setting)$/i;
const VALUE_FIELD = /^(?:values?|val|content|data|default|current|text)$/i;

/** In `{ name: 'DB_PASSWORD', value: … }` one field names the other. */
function nameFieldIn(value: object): string | undefined {
  const named = Object.entries(value).find(
    ([key, name]) => NAME_FIELD.test(key) && typeof name === 'string' && isSecretName(name),
  );
  return named?.[1];
}

/** `['password', …]`, if the second item looks like one; otherwise it may be a list of names. */
function pairIn(value: readonly unknown[]): string | undefined {
  const [name, item] = value;
  const isPair = value.length === 2 && typeof name === 'string' && typeof item === 'string';
  return isPair && isSecretName(name) && isKeyLike(item) ? name : undefined;
}

/** Looking takes time in proportion to the text, and a call must not. */
const LOOKED_AT_MAX = 16_384;

/** The keys whose names or values look like something that gives access. Only the beginning of a long text is looked at. */
export function keysOfSecrets(values: JsonObject): readonly string[] {
  let left = LOOKED_AT_MAX;
  const keys: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    if (left <= 0) break;
    let isFound = false;
    const redact = (text: string) => {
      const part = text.slice(0, left);
      left -= part.length;
      isFound ||= hasAccessSecret(part);
      return text;
    };
    const hide = () => {
      isFound = true;
      return '';
    };
    redactValue({ [key]: value }, { redact, hide });
    if (isFound) keys.push(key);
  }
  return keys;
}

/** A text with everything hidden that looks like a secret. Each kind that was hidden is reported. */
export function redactText(text: string, folders: KnownFolders, onHidden: (kind: SecretKind) => void): string {
  const secrets = findSecrets(text, folders);
  return secrets.length === 0 ? text : hider(secrets, 0, onHidden).take(text);
}
