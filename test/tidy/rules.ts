import { ARRANGEMENT_RULES } from './arrangement.ts';
import { layerDirection, noNodeBelowAdapters } from './layers.ts';
import {
  all,
  commentsMatching,
  eachFile,
  everywhere,
  type FindInFile,
  inCore,
  inProgram,
  isTest,
  isTestCode,
  matches,
  outsideAdapters,
  type Planted,
  pathsMatching,
  type TidyRule,
} from './rule.ts';
import { closingBracket, lineAt, type SourceFile } from './source-file.ts';

/** What neither the compiler nor the linter can hold. */
export const TIDY_RULES: readonly TidyRule[] = [
  layerDirection,
  noNodeBelowAdapters,
  ...ARRANGEMENT_RULES,
  {
    name: 'version-in-name',
    find: eachFile(
      everywhere,
      all(
        pathsMatching(/(?:^|[/._-])v\d+(?=[/._-])|[a-z0-9]V\d+(?=[/._-])/i, 'a version in a file name'),
        matches(
          'code',
          /\b(?:v\d+(?:[A-Z_]\w*)?|\w*[a-z0-9_]V\d+(?:[A-Z_]\w*)?|\w*_v\d+\w*|V\d+\w*)\b/,
          'a version in a name',
        ),
      ),
    ),
    planted: [
      [['src/core/token-v2.ts', '']],
      [['src/core/v2/token.ts', '']],
      [['src/core/token.v1.ts', '']],
      [['src/core/token_v2.ts', '']],
      [['src/core/planted.ts', 'const tokenV2 = 1;']],
      [['src/core/planted.ts', 'type TokenV1Payload = string;']],
      [['src/core/planted.ts', 'const token_v2 = 1;']],
      [['src/core/planted.ts', 'const v1 = 1;']],
      [['src/core/planted.ts', 'const V1_PREFIX = 1;']],
      [['test/planted.test.ts', 'parseV2();']],
    ],
  },
  {
    name: 'empty-file-name',
    find: eachFile(
      everywhere,
      pathsMatching(/(?:^|[/._-])(?:utils?|helpers?|common|manager|base|misc)(?=[/._-])/, 'a name that says nothing'),
    ),
    planted: [
      ...['utils', 'helpers', 'common', 'session-manager', 'base', 'misc'].map((name): readonly Planted[] => [
        [`src/core/${name}.ts`, ''],
      ]),
      [['src/app/utils/text.ts', '']],
    ],
  },
  {
    name: 'affix-in-name',
    find: eachFile(
      everywhere,
      all(
        matches('code', /\b(?:interface|type|class)\s+I[A-Z][a-z]\w*/, 'an `I` prefix'),
        matches('code', /\b(?:interface|type|class)\s+\w+(?:Port|Impl|Type)\b/, 'a suffix that says nothing'),
        matches('code', /\b(?:const|let|function)\s+\w+Impl\b/, 'a suffix that says nothing'),
      ),
    ),
    planted: [
      [['src/app/planted.ts', 'export interface IStore {}']],
      [['src/app/planted.ts', 'export type StorePort = {};']],
      [['src/app/planted.ts', 'class StoreImpl {}']],
      [['src/app/planted.ts', 'const storeImpl = {};']],
      [['src/app/planted.ts', 'type NodeType = string;']],
    ],
  },
  {
    name: 'global-this',
    find: eachFile(inProgram, matches('code', /\bglobalThis\b/, 'a way round the other rules')),
    planted: [[['src/core/planted.ts', 'const now = globalThis.Date.now();']]],
  },
  {
    name: 'core-is-synchronous',
    find: eachFile(
      inCore,
      matches(
        'code',
        /\b(?:async|await|Promise|ResultAsync|setTimeout|setInterval|queueMicrotask)\b/,
        'core is synchronous',
      ),
    ),
    planted: [
      [['src/core/planted.ts', 'async function f() {}']],
      [['src/core/planted.ts', 'const o = { async run() {} };']],
      [['src/core/planted.ts', 'class Queue { static async run() {} }']],
      [['src/core/planted.ts', `const text = \`now \${await next()}\`;`]],
      [['src/core/planted.ts', 'type Reply = Promise<string>;']],
    ],
  },
  {
    name: 'core-takes-time-and-chance-from-outside',
    find: eachFile(
      inCore,
      matches(
        'code',
        // A date may be made of a number, as `new Date(ms)`; everything else with that name may read the clock. Of `Math`
        // only a named function is allowed, and not `random`; anything else may lead to it by another name.
        /(?<!\bnew\s+)\bDate\b|\bDate\b(?!\s*\(\s*[^\s).])|\bIntl\b|\bperformance\b|\bcrypto\b|\bMath\b(?!\s*\.\s*(?!random\b)\w)/,
        'not in core',
      ),
    ),
    planted: [
      [['src/core/planted.ts', 'const now = Date.now();']],
      [['src/core/planted.ts', 'const now = new Date();']],
      [['src/core/planted.ts', 'const now = new Date( );']],
      [['src/core/planted.ts', 'const now = new Date;']],
      [['src/core/planted.ts', 'const now = new Date(...[]);']],
      [['src/core/planted.ts', 'const now = new Date(Date.now());']],
      [['src/core/planted.ts', 'const now = Date();']],
      [['src/core/planted.ts', 'const Clock = Date;']],
      [['src/core/planted.ts', 'const chance = Math.random();']],
      [['src/core/planted.ts', "const chance = Math['random']();"]],
      [['src/core/planted.ts', 'const { random } = Math;']],
      [['src/core/planted.ts', 'const chance = [Math][0]?.random();']],
      [['src/core/planted.ts', 'const chance = Math?.random();']],
      [['src/core/planted.ts', 'const chance = (Math as Chance).random();']],
      [['src/core/planted.ts', 'const now = new Intl.DateTimeFormat().format();']],
      [['src/core/planted.ts', 'const id = crypto.randomUUID();']],
      [['src/core/planted.ts', 'const now = performance.now();']],
    ],
  },
  {
    name: 'core-has-no-classes',
    find: eachFile(inCore, matches('code', /\bclass\s+[A-Z]\w*|\bextends\s+Error\b/, 'a class')),
    planted: [[['src/core/planted.ts', 'export class Store {}']]],
  },
  {
    name: 'caught-in-adapters-only',
    find: eachFile(
      outsideAdapters,
      all(
        matches('code', /\btry\s*\{/, 'exceptions are caught in adapters'),
        // JSON.parse has no form that returns its refusal.
        matches('code', /\bfromThrowable\s*\((?![^;]{0,80}\bJSON\.parse\b)|\bfromPromise\b/, '`try` by another name'),
      ),
    ),
    planted: [
      [['src/app/planted.ts', 'try { f(); } catch {}']],
      [['src/compose.ts', 'try { f(); } finally { g(); }']],
      [['src/mcp/planted.ts', 'const read = Result.fromThrowable(readFileSync);']],
      [['src/cli/planted.ts', 'const read = ResultAsync.fromPromise(readFile(path), String);']],
    ],
  },
  {
    // `safeTry` abandons its generator at the first refusal, so `finally` would not run and a lock would stay held.
    name: 'no-try-beside-safe-try',
    find: eachFile(inProgram, ({ path, code }) =>
      /\btry\s*\{/.test(code) && /\bsafeTry\b/.test(code)
        ? [{ path, line: 1, message: 'uses both try and safeTry' }]
        : [],
    ),
    planted: [
      [['src/adapters/planted.ts', 'return safeTry(async function* () { try { yield* f(); } finally { g(); } });']],
    ],
  },
  {
    name: 'no-skipped-tests',
    find: eachFile(
      everywhere,
      matches(
        'code',
        /\.(?:skip|only|todo|fails)\s*\(|\b(?:xit|fit|xdescribe|fdescribe)\s*\(/,
        'a test that does not run',
      ),
    ),
    planted: [
      [['src/core/planted.test.ts', "it.skip('holds', () => {});"]],
      [['test/planted.test.ts', "describe.only('all', () => {});"]],
      [['test/planted.test.ts', "it.todo('holds');"]],
    ],
  },
  {
    name: 'no-assertion-in-a-call-that-may-not-make-it',
    find: eachFile(isTestCode, skippableAssertions),
    planted: [
      [
        [
          'src/core/planted.test.ts',
          "it('x', async () => {\n  await gate.pass(id, async () => {\n    expect(1).toBe(1);\n  });\n});",
        ],
      ],
      [['test/planted.contract.ts', 'const a = 1;\nread(file).map((text) => {\n  expect(text).toBe(2);\n});']],
      [['test/planted.test.ts', "import { locked } from './locked.ts';\nlocked(() => expect(1).toBe(1));"]],
    ],
  },
  {
    name: 'no-notes-to-self',
    find: eachFile(everywhere, commentsMatching(/\b(?:TODO|FIXME|XXX|HACK)\b/, 'do it, or open an issue')),
    planted: [[['src/core/planted.ts', '// TODO: later']], [['test/planted.test.ts', '/* FIXME */']]],
  },
  {
    name: 'no-commented-out-code',
    find: eachFile(everywhere, commentedOutCode),
    planted: [
      [['src/core/planted.ts', '// const x = 1;']],
      [['src/core/planted.ts', '// if (isReady) {']],
      [['src/core/planted.ts', '// }']],
      [['src/core/planted.ts', '// start(run);']],
      [['src/core/planted.ts', '/*\nreturn 1;\n*/']],
      [['src/core/planted.ts', "// import { x } from './x.ts';"]],
    ],
  },
  {
    name: 'no-banners',
    find: eachFile(everywhere, commentsMatching(/([-=*#~_─═])\1{3,}/, 'a banner')),
    planted: [
      [['src/core/planted.ts', '// ---- types ----']],
      [['src/core/planted.ts', '/*****\n * Types\n *****/']],
      [['src/core/planted.ts', '// ====']],
    ],
  },
  {
    name: 'no-barrels',
    find: eachFile(
      everywhere,
      all(
        pathsMatching(/(?:^|\/)index\.[a-z]+$/, 'a barrel'),
        matches('code', /\bexport\s+(?:type\s+)?(?:\*|\{[^}]*\}\s*from\b)/, 'import the file that defines the thing'),
      ),
    ),
    planted: [
      [['src/core/index.ts', '']],
      [['src/core/planted.ts', "export * from './ids.ts';"]],
      [['src/core/planted.ts', "export { RunId } from './ids.ts';"]],
      [['src/core/planted.ts', "export type {\n  RunId,\n} from './ids.ts';"]],
    ],
  },
  {
    name: 'no-way-round-the-types',
    find: eachFile(
      everywhere,
      all(
        matches('code', /\bas\s+any\b|[:<|]\s*any\b(?!\s*\()/, 'any'),
        commentsMatching(/@ts-(?:ignore|nocheck)\b/, 'silences the compiler'),
        (file) =>
          isTest(file.path) ? [] : commentsMatching(/^\/\/ @ts-expect-error\b/, 'silences the compiler')(file),
      ),
    ),
    planted: [
      [['src/core/planted.ts', 'const x = y as any;']],
      [['src/core/planted.ts', 'const x: any = y;']],
      [['src/core/planted.ts', 'const x = new Map<any, any>();']],
      [['test/planted.test.ts', '// @ts-ignore\nx();']],
      [['src/core/planted.ts', '// @ts-expect-error\nx();']],
    ],
  },
  {
    name: 'no-silenced-linter-in-core',
    find: eachFile(inCore, commentsMatching(/\bbiome-ignore\b/, 'silences the linter')),
    planted: [[['src/core/planted.ts', '// biome-ignore lint/plugin: just once\nx();']]],
  },
];

/** Calls that always make the call they are given; what a file declares itself can be read there. */
const ALWAYS_CALLS =
  /^(?:(?:it|test|describe|beforeAll|beforeEach|afterAll|afterEach)(?:\.\w+)*|fc\.assert|.*\.forEach)$/;

/** Assertions in a callback of a call whose result is thrown away: if it refuses, nothing was asserted and nobody knows. */
function skippableAssertions({ path, text, code }: SourceFile): ReturnType<FindInFile> {
  const statements = code.matchAll(
    /(?<=(?:^|[;{}])\s*)(?:await\s+)?([A-Za-z_$][\w$.?]*(?:\([^()]*\)(?:\.[\w$]+)+)*)\s*\(/g,
  );
  return [...statements].flatMap(({ 0: head, 1: callee = '', index }) => {
    const start = index + head.length;
    const given = code.slice(start, closingBracket(code, start));
    const isOwn = new RegExp(`\\bfunction\\s+${callee.replaceAll(/\W/g, '\\$&')}\\b`).test(code);
    if (!/=>|\bfunction\b/.test(given) || !/\bexpect\s*\(/.test(given) || ALWAYS_CALLS.test(callee) || isOwn) return [];
    return [{ path, line: lineAt(text, start), message: `assert what ${callee}(…) returns, outside of it` }];
  });
}

/** Looks at plain comments only: a JSDoc may hold an example. */
function commentedOutCode({ path, comments }: SourceFile): ReturnType<FindInFile> {
  const statement =
    /^(?:(?:import|export|const|let|var|return|if|for|while|await|function|type|case)\b.*[;{]|[\w.]+\(.*\);|[\w.]+ = .+;|\}?\)*[;,]?)$/;
  return comments
    .filter(({ text }) => !text.startsWith('/**'))
    .flatMap(({ line, text }) =>
      text
        .replace(/^\/\*|\*\/$/g, '')
        .split('\n')
        .map((part) => part.replace(/^\s*(?:\/\/|\*)?\s*/, '').trim())
        .filter((part) => part !== '' && statement.test(part))
        .map((part) => ({ path, line, message: `commented-out code: ${part}` })),
    );
}
