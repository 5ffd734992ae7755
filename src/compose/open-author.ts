import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { err, ok } from 'neverthrow';
import { memoryStore } from '../adapters/memory-store/memory-store.ts';
import { re2Patterns } from '../adapters/patterns.ts';
import { nodeAuthorFiles } from '../adapters/sources/node-author-files.ts';
import { nodeFolderAccess } from '../adapters/sources/read-folder.ts';
import { fixedFolders, workflowFiles } from '../adapters/sources/workflow-files.ts';
import { answerIds, nodeHasher, randomIds, systemClock } from '../adapters/system.ts';
import { referenceFiles } from '../adapters/workspace.ts';
import type { AuthorServices } from '../app/author/author-services.ts';
import type { EditorRefusal, EditorServices } from '../app/author/editor-pages.ts';
import { type OpenServices, openSession } from '../app/sessions/open-session.ts';
import { authorProblem } from '../cli/author/workflow-words.ts';
import { finishedRun } from '../core/author/workflow-from-run.ts';
import { PRESETS } from '../core/log/autonomy.ts';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import { REHEARSED_GATES } from '../core/settings/settings-in-effect.ts';
import { type Bundled, catalogTools } from './open-catalog.ts';

/** What authoring workflows in a folder needs. */
export function openAuthor(bundled: Bundled, workspace: string): AuthorServices {
  const { sha256 } = nodeHasher;
  const compilePattern = re2Patterns();
  const fixed = fixedFolders(bundled.folder);
  return {
    workspace,
    folders: { project: join(workspace, '.workrail', 'workflows'), user: fixed.user },
    files: nodeAuthorFiles(nodeFolderAccess, workspace),
    source: workflowFiles(fixed, nodeFolderAccess),
    tools: catalogTools(bundled),
    compilePattern,
    yieldNow: () => setImmediate(),
    services: (catalog) => ({
      ...memoryStore(sha256),
      catalog,
      patterns: { load: async () => compilePattern },
      workspace: { observe: async () => [], tree: async () => undefined },
      references: referenceFiles(bundled.folder),
      defaults: async () => ok(PRESETS.guided),
      gateSettings: async () => REHEARSED_GATES,
      hasher: nodeHasher,
      clock: systemClock,
      ids: randomIds(systemClock),
      answerIds,
      tokenForm: 'compact',
    }),
  };
}

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
