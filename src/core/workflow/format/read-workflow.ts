import type { Diagnostics } from '../diagnostics/collect-diagnostics.ts';
import type { SourceNode } from '../source/source-node.ts';
import { checkLoopDecisions } from './check-loop-decisions.ts';
import { readValue } from './read-fields.ts';
import type { Mentions, Reader } from './reader.ts';
import { mentionsIn } from './rename-everywhere.ts';
import { settleFunctions } from './settle-functions.ts';
import { type WorkflowSyntax, workflow } from './workflow-fields.ts';

export function openReader(diagnostics: Diagnostics, root: SourceNode): Reader {
  let found: Mentions | undefined;
  const mentions = () => {
    found ??= mentionsIn(workflow, root);
    return found;
  };
  const uses = { conditions: [], patterns: [], loopControls: new Map(), wrapped: new Map(), loopConditions: [] };
  return { diagnostics, root, renamed: new Map(), mentions, uses, findings: [] };
}

/** The whole file in one tree, whichever spelling it uses. What could not be read was reported and is left out. */
export function readWorkflow(reader: Reader): WorkflowSyntax | undefined {
  const read = readValue(reader, workflow, { node: reader.root, what: 'A workflow file' });
  if (read === undefined) return undefined;
  checkLoopDecisions(reader.uses, read, reader.findings);
  return { ...read, ...settleFunctions(reader, read) };
}
