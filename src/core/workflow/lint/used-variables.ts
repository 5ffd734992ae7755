import type { SourceText } from './source-texts.ts';

/** A value of context that something goes by, and where that is written. */
type UsedVariable = { readonly name: string; readonly at: string };

const PLACE = /\{\{[ \t]*(?!wr\.)([\p{L}\p{N}_$-]+)/gu;
const CONDITION_KEY = /\/var$/;
/** What loops go over, where that is a name and not a list. */
const LOOP_KEY = /\/loop\/(?:items|count)$/;
const READ_BY_AGENTS = /^\/steps\//;

/** Every value of context that a file names: in conditions, in what loops go over, and in double braces. */
export function usedVariables(texts: readonly SourceText[]): readonly UsedVariable[] {
  return texts.flatMap(({ pointer, value }) => {
    if (CONDITION_KEY.test(pointer) || LOOP_KEY.test(pointer)) return [{ name: value, at: pointer }];
    if (!READ_BY_AGENTS.test(pointer)) return [];
    return [...value.matchAll(PLACE)].map((match) => ({ name: match[1] ?? '', at: pointer }));
  });
}
