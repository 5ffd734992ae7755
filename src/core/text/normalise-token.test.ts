import { expect, test } from 'vitest';
import { normaliseToken } from './binary-text.ts';

const token = 'ack_01jt440s63680xf01zt2g40003xn0009hp018jst30t10x9d';

test('a canonical token stays as it is', () => {
  expect(normaliseToken(token)).toBe(token);
});

test('letters that look like digits are read as digits, but not in the prefix', () => {
  expect(normaliseToken('ACK_OIl')).toBe('ack_011');
  expect(normaliseToken('lol_lol')).toBe('lol_101');
  expect(normaliseToken('lol')).toBe('lol');
});

test('invisible characters and the backslash that Markdown puts before an underscore are removed', () => {
  for (const unseen of ['\u200b', '\u200d', '\u00ad', '\u2060', '\ufeff', '\u202a', '\u{e0041}']) {
    expect(normaliseToken(`${unseen}a${unseen}ck${unseen}_01${unseen}jt${unseen}`)).toBe('ack_01jt');
  }
  expect(normaliseToken('ack\\_01jt')).toBe('ack_01jt');
});

test('brackets, punctuation and letters of other scripts are not guessed away', () => {
  for (const kept of ['<', '>', '(', '*', '.', ',', '-', '\\', '\u0000', '\u212a', 'é', 'u']) {
    expect(normaliseToken(`ack_${kept}`)).toBe(`ack_${kept}`);
  }
});
