import { readFileSync } from 'node:fs';
import { ALL_TOOLS } from '../../src/mcp/answer-call.ts';

type Package = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly mcpName: string;
  readonly engines: { readonly node: string };
};

/** What a client reads in a bundle that is installed by a click (MCPB, manifest version 0.3). */
export function desktopManifest(): object {
  const { name, version, description, license, engines } = packageFacts();
  return {
    manifest_version: '0.3',
    name,
    display_name: 'WorkRail',
    version,
    description,
    author: { name: 'The WorkRail authors' },
    license,
    server: {
      type: 'node',
      entry_point: 'dist/workrail.js',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client puts the folder of the bundle there.
      mcp_config: { command: 'node', args: ['${__dirname}/dist/workrail.js', 'serve'], env: {} },
    },
    tools: ALL_TOOLS.filter((tool) => tool.name !== 'start_session').map((tool) => ({
      name: tool.name,
      description: tool.title,
    })),
    compatibility: { platforms: ['darwin', 'linux'], runtimes: { node: engines.node } },
  };
}

/** What the MCP registry lists: which package to install, and how it is started. */
export function registryEntry(): object {
  const { name, version, mcpName } = packageFacts();
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: mcpName,
    title: 'WorkRail',
    // The registry takes at most 100 characters.
    description: "Walks an AI agent through a workflow step by step and keeps the run's state outside the chat.",
    version,
    packages: [
      {
        registryType: 'npm',
        identifier: name,
        version,
        transport: { type: 'stdio' },
        packageArguments: [{ type: 'positional', value: 'serve' }],
      },
    ],
  };
}

function packageFacts(): Package {
  return JSON.parse(readFileSync('package.json', 'utf8')) as Package;
}
