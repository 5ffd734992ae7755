import type { Report } from '../report.ts';
import { type KnownFolders, redactText } from './redact-text.ts';
import { hiddenMarker, SECRET_KINDS, type SecretKind } from './secret-kinds.ts';
import { isNamedSecret } from './secret-patterns.ts';

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
  const redact: Redact = (text, name = '') => {
    if (!isNamedSecret(name, text)) return redactText(text, folders, onHidden);
    onHidden('password');
    return hiddenMarker('password');
  };
  const sessions = report.sessions.map(({ workspace, ...session }) => ({
    ...mapTexts(session, redact),
    // A root that is short is not looked for in texts; as a root it is hidden all the same.
    workspace: workspace.map((fact) => {
      if (fact.key !== 'repo_root') return mapTexts(fact, redact);
      onHidden('workspace path');
      return { ...fact, value: hiddenMarker('workspace path') };
    }),
  }));
  const hidden = SECRET_KINDS.flatMap((kind) => {
    const count = counts.get(kind);
    return count === undefined ? [] : [{ kind, count }];
  });
  return { ...report, isRedacted: true, hidden, sessions };
}

/** `name` is the key that the text stands under. */
type Redact = (text: string, name?: string) => string;

/** The same value with each of its texts replaced, the names in it too. */
function mapTexts<Value>(value: Value, redact: Redact): Value {
  return mapped(value, redact) as Value;
}

function mapped(value: unknown, redact: Redact, name?: string): unknown {
  if (typeof value === 'string') return redact(value, name);
  if (Array.isArray(value)) return value.map((item) => mapped(item, redact, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), mapped(item, redact, key)]));
}
