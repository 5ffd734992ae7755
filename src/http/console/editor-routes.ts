import type { Context } from 'hono';
import { ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import {
  checkPage,
  createPage,
  type EditorServices,
  filePage,
  newPage,
  previewPage,
  rehearsePage,
  savePage,
  suggestPage,
  testPage,
} from '../../app/author/editor-pages.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import type { ConsolePath } from '../../core/wire/console-paths.ts';
import { EDITOR_INPUTS } from '../../core/wire/editor-shapes.ts';
import { body, type Handler, invalidRequest, reply } from './exchange-routes.ts';

type EditorPath = Extract<ConsolePath, keyof typeof EDITOR_INPUTS | 'newWorkflow'>;

/** The author's tools are loaded when the editor is first opened. */
export type OpenEditor = () => Promise<EditorServices>;

/** What the editor asks for. Only two of these requests write: one file of the author, or a new workflow. */
export function editorHandlers(open: OpenEditor): { readonly [name in EditorPath]: Handler } {
  const posted = <Path extends keyof typeof EDITOR_INPUTS>(
    path: Path,
    page: (
      services: EditorServices,
      asked: z.output<(typeof EDITOR_INPUTS)[Path]>,
    ) => Promise<Result<object, ErrorEnvelope>>,
  ): Handler => {
    return async (context: Context) => {
      const isRead = context.req.method === 'GET';
      const sent = EDITOR_INPUTS[path].safeParse(isRead ? context.req.query() : await body(context));
      if (!sent.success) return invalidRequest(context);
      return reply(context, await page(await open(), sent.data as z.output<(typeof EDITOR_INPUTS)[Path]>));
    };
  };
  return {
    editFile: posted('editFile', filePage),
    newWorkflow: async (context) => reply(context, await newPage(await open())),
    checkText: posted('checkText', checkPage),
    suggest: posted('suggest', async (_, asked) => ok(suggestPage(asked))),
    previewText: posted('previewText', previewPage),
    rehearse: posted('rehearse', rehearsePage),
    testText: posted('testText', testPage),
    saveFile: posted('saveFile', savePage),
    createWorkflow: posted('createWorkflow', createPage),
  };
}
