/** The messages by which registries tell of pushes, as hints. */
import type { HintSender } from '@claimcheck/core/plugin'

const PACKAGE = ['package', 'registry_package']

export const githubPackages: HintSender = {
  title: 'GitHub, for GHCR',
  help: `In the settings of the repository or the organization at GitHub, under "Webhooks", add a webhook with the content type application/json, and
choose the events "Packages" and "Registry packages".`,
  proof: { header: 'x-hub-signature-256', by: 'hmac' },
  targets: PACKAGE.map((name) => `ghcr.io/{${name}.namespace}/{${name}.name}`),
  params: { tag: PACKAGE.map((name) => `${name}.package_version.container_metadata.tag.name`) },
}

export const distribution: HintSender = {
  title: 'A registry of the CNCF Distribution',
  help: `In the configuration of the registry, under notifications.endpoints, add the address as the url, and under headers: Authorization: [Bearer
SECRET]. Registries that are made of it, such as Harbor's, have settings of their own.`,
  proof: { header: 'authorization', by: 'secret' },
  each: 'events',
  targets: ['{request.host}/{target.repository}'],
  params: { tag: ['target.tag'] },
  // A look is a pull itself.
  skips: { action: ['pull', 'mount'] },
}
