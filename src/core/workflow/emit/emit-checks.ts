import { verificationReport } from '../builtins/report-contracts.ts';
import type { Check, CompiledStep } from '../compiled/compiled-step.ts';
import type { CheckSyntax } from '../format/check-fields.ts';
import type { StandardStep } from '../format/step-fields.ts';
import type { Emission } from './emission.ts';

/** The checks of a step as they are pinned. An agent may report their results in the contract for that. */
export function emitChecks({ checks }: StandardStep, emission: Emission): Pick<CompiledStep, 'checks'> {
  if (checks.length === 0) return {};
  emission.contracts.set(verificationReport.contractRef, verificationReport);
  return { checks: checks.map((check) => emitCheck(check, emission)) };
}

function emitCheck(check: CheckSyntax, emission: Emission): Check {
  const { id, run, minimum, expect, against, tests, link, report, atLeast, fresh } = check;
  reportContradictions(check, emission);
  return {
    checkId: id,
    run,
    minimum,
    ...(expect === 'fail' ? { expect } : {}),
    ...(against === undefined ? {} : { against, tests: [...tests] }),
    ...(against === undefined || link === undefined ? {} : { link: [...link] }),
    ...(report === undefined ? {} : { report }),
    ...(report === undefined || atLeast === undefined ? {} : { atLeast }),
    ...(fresh === undefined ? {} : { fresh }),
    ...(emission.boundTexts.some((text) => run.includes(text)) ? { isBound: true as const } : {}),
  };
}

/** A field that would have no effect is a check that its author only believes in. */
function reportContradictions(
  { at, expect, against, tests, link, report, atLeast }: CheckSyntax,
  { findings }: Emission,
): void {
  const reportAt = (key: string, message: string) =>
    findings.push({ code: 'wrong_value', severity: 'error', at: `${at}/${key}`, message });
  if (atLeast !== undefined && report === undefined) {
    reportAt(
      'atLeast',
      'The number of tests is read from a report. Add "report": "tap" or the path of a JUnit XML file.',
    );
  }
  if (expect === 'fail' && against !== undefined) {
    reportAt(
      'expect',
      '"against" already demands that the command fails on the base and passes here. Remove "expect".',
    );
  }
  if (against === undefined && tests.length > 0)
    reportAt('tests', '"tests" needs "against": "base". Add it or remove "tests".');
  if (against === undefined && link !== undefined)
    reportAt('link', '"link" needs "against": "base". Add it or remove "link".');
}
