/** Signing keys in files that are not sealed, as where the installation makes its own secret key. */
import { openSecrets } from '@claimcheck/server/base/secrets'
import { createKeyFiles } from '@claimcheck/server/features/log/signing/key-files'

export function plainKeyFiles(dataDir: string) {
  const config = { dataDir, secretKey: undefined }
  return createKeyFiles({ config, secrets: openSecrets(config) })
}
