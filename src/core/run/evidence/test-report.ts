/** What a report says about tests. A name is failing if any result of it is. */
export type TestReport = {
  readonly executed: number;
  readonly failed: number;
  readonly passing: ReadonlySet<string>;
  readonly failing: ReadonlySet<string>;
};

/** Real suites have some ten thousand tests; a noisy command must not fill the memory. */
const NAMES_MAX = 200_000;
const NAME_LENGTH_MAX = 1_000;

type Outcome = 'pass' | 'fail' | 'skipped';

/** Collects results by name. Skipped tests were not executed. */
function collector() {
  let executed = 0;
  let failed = 0;
  const passing = new Set<string>();
  const failing = new Set<string>();
  return {
    add: (name: string, outcome: Outcome) => {
      if (outcome === 'skipped') return;
      executed += 1;
      if (outcome === 'fail') failed += 1;
      const names = outcome === 'fail' ? failing : passing;
      if (names.size < NAMES_MAX) names.add(name.slice(0, NAME_LENGTH_MAX));
    },
    report: (): TestReport => ({
      executed,
      failed,
      passing: new Set([...passing].filter((name) => !failing.has(name))),
      failing,
    }),
  };
}

/** Reads TAP line by line, as a command prints it. */
export type TapReader = { readonly line: (text: string) => void; readonly report: () => TestReport | undefined };

const POINT = /^((?: {4})*)(not )?ok\b *(\d+)?(?: *- *|\s+)?(.*)$/;
const DIRECTIVE = /(?<!\\)#\s*(skip|todo)\b/i;
const PLAN = /^( *)1\.\.(\d+)/;

/**
 * Names that stand for a file are not tests: a runner reports a file that it could not load, or that holds no test,
 * under the name of the file.
 */
export function tapReader(isFileName: (name: string) => boolean): TapReader {
  const found = collector();
  let isTap = false;
  let hasBailed = false;
  /** Inside the details of a result, which may quote anything. */
  let isInDetails = false;
  /** Names of the suites around, as far as they were announced, by depth. */
  const around: string[] = [];
  /** How many points were seen at each depth since the last shallower point. */
  const seenBelow: number[] = [];
  return {
    line: (text) => {
      if (isInDetails) {
        isInDetails = !/^ *\.\.\.$/.test(text);
        return;
      }
      if (/^ {2,}---$/.test(text)) {
        isInDetails = true;
        return;
      }
      if (/^TAP version \d+/.test(text) || PLAN.test(text)) isTap = true;
      if (/^Bail out!/.test(text)) hasBailed = true;
      const announced = /^( *)# Subtest: (.*)$/.exec(text);
      if (announced !== null) {
        const depth = depthOf(announced[1]);
        around.length = depth;
        around[depth] = announced[2] ?? '';
        return;
      }
      const point = POINT.exec(text);
      if (point === null) return;
      const depth = depthOf(point[1]);
      const isSuite = (seenBelow[depth + 1] ?? 0) > 0;
      seenBelow.length = depth + 1;
      seenBelow[depth] = (seenBelow[depth] ?? 0) + 1;
      const described = point[4] ?? '';
      const directive = DIRECTIVE.exec(described);
      const own = described.slice(0, directive?.index).trim();
      const name = [...around.slice(0, depth), own === '' ? `test ${point[3] ?? seenBelow[depth]}` : own].join(' > ');
      const isFailing = point[2] !== undefined;
      // A suite is the sum of its tests, which were counted.
      if (isSuite || isFileName(own)) return;
      found.add(name, directive === null ? (isFailing ? 'fail' : 'pass') : 'skipped');
    },
    report: () => (isTap && !hasBailed ? found.report() : undefined),
  };
}

function depthOf(indent: string | undefined): number {
  return Math.floor((indent ?? '').length / 4);
}

const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<(\/?)([A-Za-z_:][\w:.-]*)((?:"[^"]*"|'[^']*'|[^"'>])*?)(\/?)>/g;

/** Reads a JUnit XML file; `undefined` where it is not one. */
export function junitReport(xml: string, isFileName: (name: string) => boolean): TestReport | undefined {
  const found = collector();
  let isJunit = false;
  let open: { readonly name: string; outcome: Outcome } | undefined;
  for (const [, slash, tag = '', attributes = '', isEmpty] of xml.matchAll(TOKEN)) {
    const isEnd = slash === '/';
    if (/^testsuites?$/.test(tag)) isJunit = true;
    if (tag === 'testcase') {
      if (!isEnd) open = { name: caseName(attributes), outcome: 'pass' };
      if (open !== undefined && (isEnd || isEmpty === '/')) {
        if (!isFileName(open.name)) found.add(open.name, open.outcome);
        open = undefined;
      }
      continue;
    }
    if (open === undefined || isEnd) continue;
    if (tag === 'failure' || tag === 'error') open.outcome = 'fail';
    else if (tag === 'skipped' && open.outcome === 'pass') open.outcome = 'skipped';
  }
  return isJunit ? found.report() : undefined;
}

function caseName(attributes: string): string {
  const [name = '', group = ''] = ['name', 'classname'].map((key) => attribute(attributes, key));
  return group === '' || group === name ? name : `${group} > ${name}`;
}

function attribute(attributes: string, key: string): string {
  const [, quoted, single] = new RegExp(`(?:^|\\s)${key}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes) ?? [];
  return (quoted ?? single ?? '').replaceAll(/&(lt|gt|amp|quot|apos);/g, (_, entity: string) => ENTITIES[entity] ?? '');
}

const ENTITIES: { readonly [name: string]: string } = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** How many tests fail on the base and pass here, by their names. */
export function fixedTests(base: TestReport | undefined, here: TestReport | undefined): number {
  if (base === undefined || here === undefined) return 0;
  return [...base.failing].filter((name) => here.passing.has(name)).length;
}
