/** The connection of a workspace to a Kubernetes cluster, and a first read that tells whether its credentials work. */
import { DestinationError, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import { placeOf } from '../place.ts'
import { openCluster } from './api.ts'

const PEM_LENGTH = 32_768

const Options = Type.Object(
  {
    base_url: Type.String({
      title: 'Address',
      pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*(?:/[^\\s?#]*)?$',
      'x-pattern-help': 'enter an address that begins with https://',
      maxLength: 300,
      description: 'The address of the API server, as `server` in a kubeconfig.',
      examples: ['https://k8s.example.com:6443'],
    }),
    cluster: Type.String({
      title: 'Cluster',
      pattern: '^[0-9A-Za-z][0-9A-Za-z._-]*$',
      'x-pattern-help': 'enter a name of letters, digits, dots, hyphens and underscores',
      maxLength: 100,
      description: 'The name by which claims call this cluster. You choose it.',
      examples: ['production'],
    }),
    token: Type.Optional(secret({ title: 'Token', description: 'The token of a service account.', maxLength: 16_384 })),
    certificate: Type.Optional(
      secret({ title: 'Client certificate', description: 'In PEM, in place of a token.', maxLength: PEM_LENGTH }),
    ),
    key: Type.Optional(
      secret({ title: 'Key', description: 'The key of the client certificate, in PEM.', maxLength: PEM_LENGTH }),
    ),
    authority: Type.Optional(
      secret({
        title: 'Certificate authority',
        description:
          'The certificate of the authority of the API server, in PEM: `certificate-authority-data` of a kubeconfig, decoded from Base64. When left out: those that this service trusts.',
        maxLength: PEM_LENGTH,
      }),
    ),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Make a service account with a Role of these rights in the namespaces that are to be read, and no others: get of deployments, statefulsets and
daemonsets and list of replicasets in the group apps, and list of pods. A token of "kubectl create token --duration" ends; one of a Secret of the
type kubernetes.io/service-account-token does not.`

const RIGHTS =
  'The cluster does not tell by a read what else these credentials may do: bind them to a Role that only gets and lists.'

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'kubernetes',
  title: 'Kubernetes',
  options: Options,
  credentials: {
    tls: { scheme: 'clientCertificate', certificate: 'certificate', key: 'key', authority: 'authority' },
  },
  help: HELP,
  baseUrl: ({ base_url }) => base_url.replace(/\/+$/, ''),
  fits: ({ cluster }, { target }) => {
    const { platform, segments } = placeOf(target)
    return platform === 'kubernetes' && segments[0] === cluster
  },
  refusesHidden: true,
  trial: {
    title: 'Workload',
    description: 'One that is to be read through this connection: namespace, kind and name.',
    example: 'shop/deployment/web',
  },
  async probe(options, context) {
    const { target } = context
    if (options.token === undefined && options.certificate === undefined) throw new DestinationError('misconfigured')
    const cluster = openCluster(options, context)
    if (target === undefined) {
      await cluster.requireAccepted()
      return { proves: 'reached', scopes: [], warnings: [RIGHTS] }
    }
    const [, namespace = '', kind = '', name = ''] =
      /^([a-z0-9-]+)\/([a-z]+)\/([a-z0-9][a-z0-9.-]*)$/.exec(target) ?? []
    const workload = await cluster.workload(namespace, kind, name)
    if (!workload) throw new DestinationError('forbidden', { status: 404 })
    await cluster.pods(namespace, workload)
    if (kind === 'deployment') await cluster.replicaSets(namespace, workload)
    return { proves: 'works', scopes: [], warnings: [RIGHTS] }
  },
})
