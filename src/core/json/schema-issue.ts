import type * as z from 'zod';
import { orList, plural } from '../text/words.ts';
import { quote } from './json-value.ts';

const KINDS: { readonly [kind: string]: string } = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What is wrong with a value in a file that people write: a sentence about "it", without the full stop. */
export function schemaIssueText(issue: z.core.$ZodIssue, { isThere }: { readonly isThere: boolean }): string {
  switch (issue.code) {
    case 'invalid_type': {
      const kind = KINDS[issue.expected] ?? issue.expected;
      return isThere ? `It must be ${kind}` : `It is missing and must be ${kind}`;
    }
    case 'invalid_value': {
      const values = orList(issue.values.map(quote));
      return isThere ? `It must be ${values}` : `It is missing and must be ${values}`;
    }
    case 'too_small':
      return `It must ${leastWords(issue.origin, Number(issue.minimum))}`;
    case 'too_big':
      return `It must ${mostWords(issue.origin, Number(issue.maximum))}`;
    case 'unrecognized_keys':
      return `It must not have ${issue.keys.map(quote).join(', ')}`;
    case 'custom':
      // These are our own messages; some of them have no subject.
      return issue.message.startsWith('must ')
        ? `It ${issue.message}`
        : `${issue.message.charAt(0).toUpperCase()}${issue.message.slice(1)}`;
    default:
      return isThere ? 'It is not allowed here' : 'It is missing';
  }
}

function leastWords(origin: string, least: number): string {
  if (origin === 'array') return `have at least ${plural(least, 'entry', 'entries')}`;
  if (origin !== 'string') return `be at least ${least}`;
  return least === 1 ? 'not be empty' : `have at least ${least} characters`;
}

function mostWords(origin: string, most: number): string {
  if (origin === 'array') return `have at most ${most} entries`;
  return origin === 'string' ? `have at most ${most} characters` : `be at most ${most}`;
}
