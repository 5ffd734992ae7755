import { ERROR_CODES } from '../../src/core/log/error-envelope.ts';
import { ALL_TOOLS, publishedTools } from '../../src/mcp/answer-call.ts';
import type { Argument, Arguments } from '../../src/mcp/arguments/argument.ts';
import { INSTRUCTIONS, listedPrompts } from '../../src/mcp/instructions.ts';
import type { Tool } from '../../src/mcp/tool.ts';
import type { GeneratedFile } from './generated-files.ts';
import { cell } from './markdown.ts';

/** The reference page of everything that an MCP client sees. */
export function toolsPage(): string {
  const lines = [
    '# Tools',
    '',
    'What an agent can call over MCP. Generated from `src/mcp`; do not edit.',
    '',
    'Every reply has a text and `structuredContent`; each is sufficient alone. The shape of the data is published:',
    '`schemas/reply.schema.json` for the tools that run a workflow, `schemas/list-reply.schema.json` and',
    '`schemas/inspect-reply.schema.json`, `schemas/resume-reply.schema.json` and `schemas/session-reply.schema.json` for the others. Errors are results with `isError` and `kind: "error"`',
    '(`schemas/error-envelope.schema.json`). Where a call would fix the problem, the error contains it as `nextCall`.',
    'Objects and lists may be sent as JSON text. `start_session` is available only with `WORKRAIL_ENABLE_START_SESSION=1`.',
    '',
    ...ALL_TOOLS.flatMap(toolLines),
    '## Error codes',
    '',
    ...ERROR_CODES.map((code) => `- \`${code}\``),
    '',
    '## Prompts',
    '',
    'Clients show these as slash commands.',
    '',
    '| Prompt | What it does | Arguments |',
    '|---|---|---|',
    ...listedPrompts().map(({ name, description = '', arguments: taken = [] }) => {
      const names = taken.map((one) => `\`${one.name}\` (${one.description})`).join(', ');
      return `| \`${name}\` | ${cell(description)} | ${cell(names)} |`;
    }),
    '',
    '## Instructions that agents get when they connect',
    '',
    ...INSTRUCTIONS.split('\n').map((line) => (line === '' ? '>' : `> ${line}`)),
  ];
  return `${lines.join('\n')}\n`;
}

/** Each tool as clients get it, so that a change of one is seen in review. */
export function toolSnapshots(): readonly GeneratedFile[] {
  return publishedTools({ isSessionStartOn: true }).map((tool) => ({
    path: `test/golden/tools/${tool.name}.json`,
    text: `${JSON.stringify(tool, null, 2)}\n`,
  }));
}

function toolLines({ name, title, description, annotations, arguments: taken }: Tool): readonly string[] {
  const effects = [
    annotations.readOnlyHint ? 'changes nothing' : 'records',
    annotations.idempotentHint ? 'safe to repeat' : 'does it again when repeated',
  ];
  return [
    `## ${name}`,
    '',
    `${title} (${effects.join(', ')}). ${description}`,
    '',
    '| Argument | Type | Needed | Meaning |',
    '|---|---|---|---|',
    ...argumentRows(taken, ''),
    '',
  ];
}

function argumentRows(all: Arguments, prefix: string): readonly string[] {
  return Object.entries(all).flatMap(([name, one]) => {
    const also = one.alsoNamed === undefined ? '' : ` Also \`${one.alsoNamed.join('`, `')}\`.`;
    const lifted = prefix === '' ? '' : ' May stand at the top level.';
    const row = `| \`${prefix}${name}\` | ${typeOf(one)} | ${one.isRequired ? 'yes' : ''} | ${cell(`${one.about}${also}${lifted}`)} |`;
    return one.kind === 'group' ? [row, ...argumentRows(one.fields, `${name}.`)] : [row];
  });
}

function typeOf(one: Argument): string {
  switch (one.kind) {
    case 'choice':
      return one.values.map((value) => `\`${value}\``).join(', ');
    case 'texts':
      return 'list of texts';
    case 'objects':
      return 'list of objects';
    case 'group':
      return 'object';
    default:
      return one.kind;
  }
}
