import { utf8Length } from '../../text/utf8.ts';
import type { CompiledStep } from './compiled-step.ts';

/** What the prompt of a step takes with all that is always part of it, in bytes. */
export function promptBytes({ prompt, fragments }: Pick<CompiledStep, 'prompt' | 'fragments'>): number {
  const always = fragments.filter(({ when }) => when.kind === 'always').map(({ text }) => text);
  return [prompt, ...always].reduce((bytes, text) => bytes + utf8Length(text), 0);
}
