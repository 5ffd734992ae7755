import type { Operator } from './mistake.ts';

/** Files that are not JSON, or not quite. */
export const WHOLE_FILES: readonly Operator[] = [
  {
    name: 'write a key twice',
    mistakes: (document) => {
      const text = JSON.stringify(document, null, 2).replace('{', '{ "name": "First",');
      return [{ text, code: 'duplicate_key', pointer: '/name' }];
    },
  },
  {
    name: 'forget the last bracket',
    mistakes: (document) => [{ text: JSON.stringify(document, null, 2).slice(0, -1), code: 'not_json', pointer: '' }],
  },
  {
    name: 'write a comment',
    mistakes: (document) => [{ text: `// mine\n${JSON.stringify(document)}`, code: 'not_json', pointer: '' }],
  },
];
