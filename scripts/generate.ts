import { generatedFiles } from './generate/generated-files.ts';
import { runGenerate } from './generate/run-generate.ts';

const target = process.cwd();
const isCheck = process.argv.includes('--check');
const { lines, exitCode } = runGenerate({ files: generatedFiles(target), target, isCheck });
for (const line of lines) console.log(line);
process.exitCode = exitCode;
