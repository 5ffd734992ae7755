import { utf8Length } from '../../text/utf8.ts';
import { refs } from '../builtins/refs.ts';
import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import { PROMPT_BYTES_MAX } from '../format/limits.ts';
import type { BlockText, PromptBlocks } from '../format/prompt-fields.ts';
import type { StandardStep, StepSyntax } from '../format/step-fields.ts';
import { FILLED_LENGTH_MAX, grownTooLong } from './fill-text.ts';

const REF_BYTES_MAX = 4096;
export const REFS_PER_STEP_BYTES_MAX = 8192;

export type RenderedPrompt = { readonly text: string; readonly refs: CompiledStep['refs'] };

/** The prompt as one text. Bundled texts are put in whole, so that a run never has to look them up. */
export function renderPrompt(
  { prompt = '', promptBlocks: blocks, at }: StandardStep,
  tools: { readonly hashText: (text: string) => string; readonly findings: CompilerFinding[] },
): RenderedPrompt {
  if (blocks === undefined) return { text: prompt, refs: [] };
  const used: CompiledStep['refs'] = [];
  const render = (text: BlockText) => text.map((part) => renderPart(part, used, tools)).join('');
  const sections = [
    section('Goal', blocks.goal === undefined ? '' : render(blocks.goal)),
    section('Constraints', list(blocks.constraints.map(render), '-')),
    section('Procedure', list(blocks.procedure.map(render), '1')),
    section('Send', list(handIn(blocks.outputRequired, tools.findings), '-')),
    section('Verify', list(blocks.verify.map(render), '-')),
  ];
  // A text that is put in twice counts twice: the agent reads it twice.
  const bytes = refsIn(blocks).reduce((sum, refId) => sum + utf8Length(refs.find(refId)?.text ?? ''), 0);
  if (bytes > REFS_PER_STEP_BYTES_MAX) {
    const message = `The bundled texts of this step have ${bytes} bytes; ${REFS_PER_STEP_BYTES_MAX} are allowed. Use fewer.`;
    tools.findings.push({ code: 'ref_budget', severity: 'error', at: `${at}/promptBlocks`, message });
  }
  const text = sections.filter((one) => one !== '').join('\n\n');
  if (text.length > FILLED_LENGTH_MAX + REFS_PER_STEP_BYTES_MAX) {
    tools.findings.push({ ...grownTooLong(), severity: 'error', at: `${at}/promptBlocks` });
  }
  return { text, refs: used };
}

/** Prompts in blocks may be as long as others. Bundled texts have a budget of their own. */
export function checkBlockSizes(steps: readonly StepSyntax[], findings: CompilerFinding[]): void {
  for (const step of steps) {
    if (step.kind === 'loop' && step.body.kind === 'steps') checkBlockSizes(step.body.steps, findings);
    if (step.kind !== 'standard' || step.promptBlocks === undefined) continue;
    const bytes = textsIn(step.promptBlocks).reduce((sum, text) => sum + utf8Length(text), 0);
    if (bytes <= PROMPT_BYTES_MAX) continue;
    const message = `"promptBlocks" have ${bytes} bytes of UTF-8 in all; at most ${PROMPT_BYTES_MAX} are allowed. Shorten them by ${bytes - PROMPT_BYTES_MAX}.`;
    findings.push({ code: 'text_too_long', severity: 'error', at: `${step.at}/promptBlocks`, message });
  }
}

function textsIn({ goal = [], constraints, procedure, outputRequired, verify }: PromptBlocks): readonly string[] {
  const parts = [goal, ...constraints, ...procedure, ...outputRequired.map(({ text }) => text), ...verify].flat();
  return [
    ...outputRequired.map(({ name }) => name),
    ...parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])),
  ];
}

/** Fields of an object have no order of their own, so they are put into one. */
function handIn(fields: PromptBlocks['outputRequired'], findings: CompilerFinding[]): readonly string[] {
  return [...fields]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, text }) => {
      const parts = text.map((part) => {
        if (part.kind === 'text') return part.text;
        const message = 'A bundled text is allowed in goal, constraints, procedure and verify only. Move it there.';
        findings.push({ code: 'ref_misplaced', severity: 'error', at: part.at, message });
        return '';
      });
      return `${name}: ${parts.join('')}`;
    });
}

function refsIn({ goal = [], constraints, procedure, verify }: PromptBlocks): readonly string[] {
  return [goal, ...constraints, ...procedure, ...verify]
    .flat()
    .flatMap((part) => (part.kind === 'ref' ? [part.refId] : []));
}

function renderPart(
  part: BlockText[number],
  used: CompiledStep['refs'],
  { hashText, findings }: { readonly hashText: (text: string) => string; readonly findings: CompilerFinding[] },
): string {
  if (part.kind === 'text') return part.text;
  const ref = refs.find(part.refId);
  if (ref === undefined) {
    const message = `Unknown bundled text "${part.refId}".`;
    const unknown = { name: part.refId, known: refs.ids };
    findings.push({ code: 'unknown_ref', severity: 'error', at: part.at, message, unknown });
    return '';
  }
  const bytes = utf8Length(ref.text);
  if (bytes > REF_BYTES_MAX) {
    const message = `The bundled text "${ref.refId}" takes ${bytes} bytes; ${REF_BYTES_MAX} are allowed.`;
    findings.push({ code: 'ref_budget', severity: 'error', at: part.at, message });
  }
  if (!used.some(({ refId }) => refId === ref.refId)) {
    used.push({ refId: ref.refId, contentHash: hashText(ref.text), bytes });
  }
  return ref.text;
}

function section(title: string, text: string): string {
  return text === '' ? '' : `## ${title}\n\n${text}`;
}

/** A mark that the author wrote is replaced by ours, and further lines of an entry stay part of it. */
function list(items: readonly string[], mark: '-' | '1'): string {
  return items
    .map((item, i) => {
      const own = mark === '-' ? '-' : `${i + 1}.`;
      const text = item.replace(mark === '-' ? /^\s*[-*]\s+/ : /^\s*\d{1,3}[.)]\s+/, '');
      return `${own} ${text.replaceAll(/\n(?!\n|$)/g, `\n${' '.repeat(own.length + 1)}`)}`;
    })
    .join('\n');
}
