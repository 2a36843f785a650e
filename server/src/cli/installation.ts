/** Opens the installation of this environment for a command, and closes it. */
import { loadConfig, SCHEMA } from '../features.ts'
import type { Program, WithServices } from '../host/feature.ts'

// biome-ignore lint/suspicious/noExplicitAny: each command names the services that it uses
export const withServices: WithServices<any> = async (work, { plugins = false, asIs = false } = {}) => {
  // Imported here, so that help and `verify` start fast.
  const { openClaimcheck } = await import('../claimcheck.ts')
  const claimcheck = await openClaimcheck(loadConfig(process.env, process.cwd()), { plugins, asIs, patient: true })
  try {
    return await work(claimcheck)
  } finally {
    await claimcheck.close()
  }
}

export const PROGRAM: Program = {
  loadConfig: (env) => loadConfig(env, process.cwd()),
  schema: SCHEMA,
}
