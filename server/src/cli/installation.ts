/** Opens the installation of this environment for a command, and closes it. */
import { loadConfig } from '../config/config.ts'
import type { Claimcheck } from '../container.ts'

/** Runs `work` on the installation of this environment. A server may run on it at the same time. */
export async function withClaimcheck<T>(
  work: (claimcheck: Claimcheck) => Promise<T>,
  { plugins = false }: { readonly plugins?: boolean } = {},
): Promise<T> {
  // Imported here, so that help and `verify` start fast.
  const { openClaimcheck } = await import('../container.ts')
  const claimcheck = await openClaimcheck(loadConfig(process.env, process.cwd()), { plugins, patient: true })
  try {
    return await work(claimcheck)
  } finally {
    await claimcheck.close()
  }
}
