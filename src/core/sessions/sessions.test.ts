import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { searchWords, snippetOf, wordsIn } from '../text/search-words.ts';
import { branchName } from './run-lines.ts';
import { sessionState, waitsForPerson } from './session-state.ts';

const unit = fc.constantFrom('a', ' ', '\n', '日', 'ﬁ', 'İ', 'e\u0301', '😀', '\ud83d', '\u0000');
const text = fc.string({ unit, maxLength: 200 });

describe('searching', () => {
  it('a search matches all words in any case, Unicode form and position', () => {
    expect(searchWords('  Empty\tCART empty ')).toEqual(['empty', 'cart']);
    expect(wordsIn('The cart was emptied. ﬁne', ['empty', 'cart', 'fine', 'empt'])).toEqual(['cart', 'fine', 'empt']);
    expect(wordsIn('日本語のタイトル', searchWords('日本 タイトル'))).toEqual(['日本', 'タイトル']);
  });

  it('a snippet is one line around the match', () => {
    expect(snippetOf(`${'a '.repeat(80)}Needle\n${'b '.repeat(80)}`, ['needle'])).toMatch(/^…(a )+Needle (b )+b…$/);
    expect(snippetOf('Die Straße nach ﬁnland: Der Wagen HIELT an.', ['hielt'], 10)).toBe('…Der Wagen HIELT an.');
    expect(snippetOf('İzmir und e\u0301tude, dann Der Halt', ['halt'], 5)).toBe('…Der Halt');
    fc.assert(
      fc.property(text, text, (before, after) => {
        const snippet = snippetOf(`${before}needle${after}`, ['needle']);
        expect(snippet).not.toMatch(/\n/);
        expect(snippet.isWellFormed()).toBe(true);
        expect(wordsIn(snippet, ['needle'])).toEqual(['needle']);
      }),
      { numRuns: 50 },
    );
  });
});

describe('session state', () => {
  const run = (status: 'in_progress' | 'blocked' | 'complete' | 'complete_with_gaps', isClosed = false) => ({
    status,
    isClosed,
  });

  it('the open run that needs the most attention decides the state of a session', () => {
    expect(sessionState([run('complete'), run('blocked'), run('in_progress')])).toBe('blocked');
    expect(sessionState([run('complete'), run('in_progress')])).toBe('running');
    expect(sessionState([run('complete_with_gaps'), run('blocked', true)])).toBe('complete');
    expect(sessionState([run('in_progress', true)])).toBe('closed');
    expect(sessionState([])).toBe('complete');
    expect(sessionState([{ status: undefined, isClosed: false }])).toBe('running');
  });

  it('a run waits for a person if only a person can provide what is missing', () => {
    expect(waitsForPerson([{ code: 'USER_ONLY_DEPENDENCY' }])).toBe(true);
    expect(waitsForPerson([{ code: 'USER_ONLY_DEPENDENCY' }, { code: 'MISSING_REQUIRED_OUTPUT' }])).toBe(false);
    expect(waitsForPerson([])).toBe(false);
  });
});

it('branches have names that are short and all different', () => {
  expect([0, 1, 25, 26, 27, 701, 702].map(branchName)).toEqual(['A', 'B', 'Z', 'AA', 'AB', 'ZZ', 'AAA']);
});
