import { type XmlTag, xmlTags } from './xml-tags.ts';

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
/** How long a test took, and the start of the block with its subtests. Neither is part of its name. */
const TIME = /\s#\s*time=\S+/;
const BLOCK = /\s\{$/;
const BLOCK_END = /^((?: {4})*)\}$/;
const PLAN = /^( *)1\.\.(\d+)/;
const WHOLE_PLAN = /^((?: {4})*)1\.\.(\d+)\s*(?:#.*)?$/;

/**
 * Output that lists fewer results than its plans say broke off, so it is no report. Names that stand for a file are not
 * tests: a runner reports a file that it could not load, or that holds no test, under the name of the file.
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
  /** How many of them the plans there say. Streams that follow each other add up. */
  const planned: number[] = [];
  let isCut = false;
  const isMissingBelow = (depth: number) => planned.some((count, at) => at >= depth && count > (seenBelow[at] ?? 0));
  const endSubtests = (depth: number) => {
    isCut ||= isMissingBelow(depth + 1);
    planned.length = Math.min(planned.length, depth + 1);
    seenBelow.length = depth + 1;
  };
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
      const plan = WHOLE_PLAN.exec(text);
      if (plan !== null) {
        const depth = depthOf(plan[1]);
        planned[depth] = (planned[depth] ?? 0) + Number(plan[2]);
      }
      const announced = /^( *)# Subtest: (.*)$/.exec(text);
      if (announced !== null) {
        const depth = depthOf(announced[1]);
        around.length = depth;
        around[depth] = announced[2] ?? '';
        return;
      }
      const blockEnd = BLOCK_END.exec(text);
      if (blockEnd !== null) endSubtests(depthOf(blockEnd[1]));
      const point = POINT.exec(text);
      if (point === null) return;
      const depth = depthOf(point[1]);
      const isBlock = BLOCK.test(point[4] ?? '');
      const isSuite = isBlock || (seenBelow[depth + 1] ?? 0) > 0;
      endSubtests(depth);
      seenBelow[depth] = (seenBelow[depth] ?? 0) + 1;
      const described = (point[4] ?? '').replace(BLOCK, '').replace(TIME, '');
      const directive = DIRECTIVE.exec(described);
      const own = described.slice(0, directive?.index).trim();
      const name = [...around.slice(0, depth), own === '' ? `test ${point[3] ?? seenBelow[depth]}` : own].join(' > ');
      const isFailing = point[2] !== undefined;
      if (isBlock) {
        around.length = depth;
        around[depth] = own;
      }
      // A suite is the sum of its tests, which were counted.
      if (isSuite || isFileName(own)) return;
      found.add(name, directive === null ? (isFailing ? 'fail' : 'pass') : 'skipped');
    },
    report: () => (isTap && !hasBailed && !isCut && !isMissingBelow(0) ? found.report() : undefined),
  };
}

function depthOf(indent: string | undefined): number {
  return Math.floor((indent ?? '').length / 4);
}

type OpenCase = { readonly name: string; outcome: Outcome };
type OpenSuite = { readonly says: Counted; readonly listed: Counted };
type Counted = { cases: number; problems: number };

/**
 * Reads a JUnit XML file; `undefined` where it is not one, and where it does not list all results: it breaks off, or a
 * suite says that it has more problems than it lists, or has tests and lists none.
 */
export function junitReport(xml: string, isFileName: (name: string) => boolean): TestReport | undefined {
  const found = collector();
  const suites: OpenSuite[] = [];
  const cases: OpenCase[] = [];
  let isJunit = false;
  for (const { name: tag, kind, attributes } of xmlTags(xml)) {
    const [isStart, isEnd] = [kind !== 'end', kind !== 'start'];
    if (/^testsuites?$/.test(tag)) {
      isJunit = true;
      if (isStart) suites.push({ says: countsIn(attributes), listed: { cases: 0, problems: 0 } });
      if (isEnd && !isWhole(suites.pop(), suites.at(-1))) return undefined;
    } else if (tag === 'testcase') {
      if (isStart) cases.push({ name: caseName(attributes), outcome: 'pass' });
      const ended = isEnd ? cases.pop() : undefined;
      if (ended === undefined) continue;
      const suite = suites.at(-1);
      if (suite !== undefined) suite.listed.cases += 1;
      if (!isFileName(ended.name)) found.add(ended.name, ended.outcome);
    } else if (isStart) {
      const isProblem = tag === 'failure' || tag === 'error';
      const [suite, open] = [suites.at(-1), cases.at(-1)];
      if (isProblem && suite !== undefined) suite.listed.problems += 1;
      // The suite itself failed, so its tests say nothing.
      if (isProblem && suite !== undefined && open === undefined) return undefined;
      if (open === undefined) continue;
      if (isProblem) open.outcome = 'fail';
      else if (tag === 'skipped' && open.outcome === 'pass') open.outcome = 'skipped';
    }
  }
  return isJunit && suites.length === 0 && cases.length === 0 ? found.report() : undefined;
}

/** Whether a suite lists what it says. A suite around it lists the same. */
function isWhole(ended: OpenSuite | undefined, around: OpenSuite | undefined): boolean {
  if (ended === undefined) return false;
  const { says, listed } = ended;
  if (around !== undefined) {
    around.listed.cases += listed.cases;
    around.listed.problems += listed.problems;
  }
  // Real tools count skipped tests and parts of tests that they do not list.
  return says.problems <= listed.problems && (listed.cases > 0 || says.cases === 0);
}

function countsIn(attributes: XmlTag['attributes']): Counted {
  const count = (key: string) => {
    const text = attributes.get(key)?.trim() ?? '';
    return /^\d+$/.test(text) ? Number(text) : 0;
  };
  const passedOver = count('skipped') + count('disabled');
  return { cases: Math.max(0, count('tests') - passedOver), problems: count('failures') + count('errors') };
}

function caseName(attributes: XmlTag['attributes']): string {
  const [name = '', group = ''] = [attributes.get('name'), attributes.get('classname')];
  return group === '' || group === name ? name : `${group} > ${name}`;
}

/** How many tests fail on the base and pass here, by their names. */
export function fixedTests(base: TestReport | undefined, here: TestReport | undefined): number {
  if (base === undefined || here === undefined) return 0;
  return [...base.failing].filter((name) => here.passing.has(name)).length;
}
