import type { CompilerFinding } from '../../finding.ts';
import type { SourceNode } from '../../source/source-node.ts';

/** A context value in double braces, as prompts have them. What is filled while compiling is not meant. */
const PLACE = /\{\{[ \t]*(?!wr\.)[\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*[ \t]*\}\}/u;

/** What an agent is told word for word, whatever is in context. */
const AS_WRITTEN: ReadonlySet<string> = new Set([
  'agentRole',
  'guidance',
  'metaGuidance',
  'preconditions',
  'clarificationPrompts',
  'definition',
  'hints',
  'message',
  'purpose',
]);
/** What no agent is told, and what holds keys of the author's own. */
const OTHER: ReadonlySet<string> = new Set([
  'extensionPoints',
  'args',
  'config',
  'contextMapping',
  'items',
  'default',
  'enum',
  'schema',
]);

/** Warns where an author expects a value to be put in and none will be. */
export function checkPlaces(root: SourceNode, findings: CompilerFinding[]): void {
  visit(root, false, findings);
}

function visit(node: SourceNode, isAsWritten: boolean, findings: CompilerFinding[]): void {
  if (node.kind === 'array') for (const item of node.items) visit(item, isAsWritten, findings);
  if (node.kind === 'object') {
    for (const { name, value } of node.fields.values()) {
      if (OTHER.has(name)) continue;
      // What is asked of the user is told with the requirements, which are not filled either.
      const asked = name === 'userDependency' && value.kind === 'object' ? value.fields.get('prompt') : undefined;
      if (asked === undefined) visit(value, isAsWritten || AS_WRITTEN.has(name), findings);
      else visit(asked.value, true, findings);
    }
  }
  const [place] = node.kind === 'string' && isAsWritten ? (node.value.match(PLACE) ?? []) : [];
  if (place === undefined) return;
  const message = `${place} would reach the agent as it stands: values of context are put into prompts, fragments and titles only. Say it in the prompt.`;
  findings.push({ code: 'place_not_filled', severity: 'warning', at: node.pointer, message });
}
