import type { Report, ReportRun, ReportSession } from '../report.ts';
import type { KnownFolders } from './find-secrets.ts';
import { redactNote } from './redact-note.ts';
import { redactText } from './redact-text.ts';
import { redactValue } from './redact-value.ts';
import { hiddenMarker, SECRET_KINDS, type SecretKind } from './secret-kinds.ts';

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
