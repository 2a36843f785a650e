/** The wire types of the client, as TypeScript, made from the OpenAPI document that the service serves. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import { startServer } from '@claimcheck/server/host/start'

export const CLIENT_TYPES = 'core/client/src/openapi.ts'

const HEADER = `/** The wire types, made by \`npm run client-types\` from the OpenAPI document of the service. Change that, and not this. */

`

export async function clientTypes(): Promise<string> {
  return HEADER + (await toTypeScript(await servedDocument()))
}

/** Without plugins: the types are those of every installation, and not of the actions that one of them offers. */
async function servedDocument(): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-types-'))
  await writeFile(join(folder, 'claimcheck.config.json'), JSON.stringify({ plugins: [] }))
  const claimcheck = await openClaimcheck(loadConfig({ PORT: '0', LOG_LEVEL: 'silent' }, folder), { plugins: true })
  try {
    const server = await startServer(claimcheck)
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as object
    await server.stop()
    return document
  } finally {
    await claimcheck.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Generator {
  readonly default: (document: object, options: object) => Promise<unknown>
  readonly astToString: (ast: unknown) => string
}

async function toTypeScript(document: object): Promise<string> {
  // Beside the package that it is for, with a compiler of its own: it does not work with the one of this repository.
  const require = createRequire(resolve('core/client/package.json'))
  const { default: openapiTS, astToString }: Generator = require('openapi-typescript')
  return astToString(
    await openapiTS(document, { alphabetize: true, emptyObjectsUnknown: true, immutable: true, silent: true }),
  )
}
