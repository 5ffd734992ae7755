/** `{3}`, `{3,}`, `{3,7}` and, because the engine takes it, `{,7}`. */
const COUNTED = /\{([0-9]*)(,?)([0-9]*)\}/y;
/** An escape with an argument in braces, another escape, or a class: each is one check. */
const ONE_CHECK = /\\[pPxu]\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]/y;

/**
 * About how many single checks a pattern stands for once its counted repetitions are written out. Wrong shapes are
 * left to the engine, which refuses them.
 */
export function patternSize(pattern: string): number {
  const open: number[] = [];
  let size = 0;
  let last = 0;
  let at = 0;
  while (at < pattern.length) {
    const character = pattern.charAt(at);
    const counted = character === '{' ? stickyMatch(COUNTED, pattern, at) : undefined;
    const check = character === '\\' || character === '[' ? stickyMatch(ONE_CHECK, pattern, at) : undefined;
    at += counted?.[0].length ?? check?.[0].length ?? 1;
    if (counted !== undefined) {
      const times = Math.max(Number(counted[1]), Number(counted[3]), 1);
      size += last * (times - 1);
      last *= times;
    } else if (character === '(') {
      open.push(size);
    } else if (character === ')') {
      last = size - (open.pop() ?? 0);
    } else if (check !== undefined || !'*+?|'.includes(character)) {
      size += 1;
      last = 1;
    }
  }
  return size;
}

function stickyMatch(expression: RegExp, text: string, at: number): RegExpExecArray | undefined {
  expression.lastIndex = at;
  return expression.exec(text) ?? undefined;
}
