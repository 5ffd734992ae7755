import { err, ok } from 'neverthrow';
import type { AuthorServices } from '../app/author/author-services.ts';
import type { EditorRefusal, EditorServices } from '../app/author/editor-pages.ts';
import { type OpenServices, openSession } from '../app/sessions/open-session.ts';
import { authorProblem } from '../cli/author/workflow-words.ts';
import { finishedRun } from '../core/author/workflow-from-run.ts';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import { openAuthor } from './open-author.ts';
import type { Bundled } from './open-catalog.ts';

let kept: AuthorServices | undefined;

/** What the editor of the console needs. The author is kept, so that files that did not change are not read again. */
export function openEditor(bundled: Bundled, store: OpenServices, explain: Explain): EditorServices {
  kept ??= openAuthor(bundled, process.cwd());
  return {
    author: kept,
    explainEdit: editProblem,
    finishedRun: async ({ sessionId, runId }) => {
      const opened = await openSession(store, sessionId);
      if (opened.isErr()) return err(explain(opened.error));
      const run = finishedRun(opened.value, runId);
      return run === undefined ? err(editProblem({ code: 'run_not_finished' })) : ok(run);
    },
  };
}

type Explain = (refusal: { readonly code: string }) => ErrorEnvelope;

function editProblem(refusal: EditorRefusal): ErrorEnvelope {
  if (refusal.code !== 'rehearsal_refused') return authorProblem(refusal).error;
  return {
    code: 'VALIDATION_ERROR',
    message: `The rehearsal cannot start: ${refusal.refusal}.`,
    suggestion: 'Check the values that it starts with.',
    retry: { kind: 'not_retryable' },
  };
}
