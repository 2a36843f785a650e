/** The profile of the action `deploy.revision.live`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

const DIGEST = '^sha256:[0-9a-fA-F]{64}$'
const COMMIT = '^[0-9a-fA-F]{40}$'
const DEPLOYMENT = '^dpl_[0-9A-Za-z]+$'
const DOMAIN = '^[0-9A-Za-z](?:[0-9A-Za-z-]*[0-9A-Za-z])?(?:\\.[0-9A-Za-z](?:[0-9A-Za-z-]*[0-9A-Za-z])?)+$'
const LONGEST_DOMAIN = 253

const PLACES = [
  'kubernetes:[0-9A-Za-z][0-9A-Za-z._-]*/[a-z0-9][a-z0-9-]*/(?:deployment|statefulset|daemonset)/[a-z0-9][a-z0-9.-]*',
  'vercel:[0-9A-Za-z][0-9A-Za-z_-]*/[0-9a-z_][0-9a-z._-]*',
]

const Params = Type.Object(
  {
    image_digest: Type.Optional(
      Type.String({
        title: 'Digest of the image',
        pattern: DIGEST,
        'x-pattern-help': 'enter sha256: and 64 hexadecimal digits',
        maxLength: 71,
        description:
          'Kubernetes: the digest of the image, as the registry answered it to the push. Required at Kubernetes.',
        examples: ['sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
      }),
    ),
    container: Type.Optional(
      Type.String({
        title: 'Container',
        pattern: '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$',
        'x-pattern-help': 'enter the name of the container in the pod template',
        maxLength: 63,
        description: 'Kubernetes: the container that runs the image. Required where the pod template has several.',
        examples: ['web'],
      }),
    ),
    deployment: Type.Optional(
      Type.String({
        title: 'Deployment',
        pattern: DEPLOYMENT,
        'x-pattern-help': "enter the deployment's id, which begins with dpl_",
        maxLength: 64,
        description: 'Vercel: the id of the deployment. Required at Vercel where no commit is named.',
        examples: ['dpl_5WJWYSyB7BpgTj3EuwF37WMRBXBtPQ2iTMJHJBJyRfd'],
      }),
    ),
    commit: Type.Optional(
      Type.String({
        title: 'Commit',
        pattern: COMMIT,
        'x-pattern-help': 'enter the 40 hexadecimal digits of the commit',
        maxLength: 40,
        description: 'Vercel: the commit from which Vercel built the deployment.',
        examples: ['a3c4b1e0f2d5968778695a4b3c2d1e0f11223344'],
      }),
    ),
    domain: Type.Optional(
      Type.String({
        title: 'Domain',
        pattern: DOMAIN,
        'x-pattern-help': 'enter a host name, such as www.example.com',
        maxLength: LONGEST_DOMAIN,
        description:
          "Vercel: the domain at which the deployment answers. When left out: the project's production domain.",
        examples: ['www.example.com'],
      }),
    ),
  },
  { additionalProperties: false },
)

const count = (title: string, description: string) => Type.Optional(Type.Integer({ title, description }))
const text = (title: string, pattern: string, maxLength: number, description: string) =>
  Type.Optional(Type.String({ title, pattern, maxLength, description }))

const Facts = Type.Object(
  {
    image_digest: text('Digest found', DIGEST, 71, 'The digest of the image that all ready pods run.'),
    pods: count('Pods', 'The pods of the workload, without those that are being stopped.'),
    pods_ready: count('Ready pods', 'Those of them that are ready.'),
    pods_with_digest: count(
      'Pods with the digest',
      'The ready pods of the current revision that run the claimed digest.',
    ),
    generation: count('Generation', "The generation of the workload's specification."),
    observed_generation: count('Generation observed', 'The generation that the status of the workload is about.'),
    revision: count('Revision', 'The revision of the rollout, as a Deployment counts them.'),
    deployment: text('Deployment found', DEPLOYMENT, 64, 'The deployment to which the domain leads.'),
    commit: text('Commit found', COMMIT, 40, 'The commit from which Vercel built that deployment.'),
    domain: text('Domain', DOMAIN, LONGEST_DOMAIN, 'The domain that was looked at.'),
    ready_state: text('State', '^[A-Z]+$', 32, 'The state of that deployment at Vercel.'),
    aliased_at: Type.Optional(
      Type.String({
        title: 'Led there since',
        format: 'date-time',
        description: "The last change of the domain's assignment, by Vercel's clock.",
      }),
    ),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const profile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'deploy.revision.live',
  version: '1',
  rulesVersion: 2,
  summary: 'A revision is live: every ready pod of the workload runs the image, or the domain leads to the deployment.',
  words: {
    title: 'Live revision',
    target: 'Workload or project',
    claim: [
      'Image {image_digest} is live in the container {container} of {target}.',
      'Image {image_digest} is live in {target}.',
      'Deployment {deployment} of commit {commit:short} is live at {domain}, of {target}.',
      'Deployment {deployment} of commit {commit:short} is live in {target}.',
      'Deployment {deployment} is live at {domain}, of {target}.',
      'Deployment {deployment} is live in {target}.',
      'Commit {commit:short} is live at {domain}, of {target}.',
      'Commit {commit:short} is live in {target}.',
      'A revision is live in {target}.',
    ],
    outcomes: {
      verified: [
        'Image {image_digest} was live in the container {container} of {target} in time.',
        'Image {image_digest} was live in {target} in time.',
        'Deployment {deployment} was live at {domain} in time.',
        'The claimed revision was live in {target} in time.',
      ],
      late: 'The claimed revision was live in {target}, and too late.',
      mismatch: 'Another revision than claimed was live in {target}.',
      failed: 'The claimed revision was not live in {target} by the deadline.',
    },
    facts: {
      pods_with_digest: ['{pods_with_digest} of {pods} pods were ready and ran the claimed image.'],
      aliased_at: 'The domain {domain} was last assigned at {aliased_at}.',
    },
  },
  target: Type.String({
    pattern: `^(?:${PLACES.join('|')})$`,
    maxLength: 400,
    'x-pattern-help':
      'write `kubernetes:CLUSTER/NAMESPACE/KIND/NAME` with deployment, statefulset or daemonset as the kind, or `vercel:SCOPE/PROJECT`',
    description:
      "The workload by the name that the connection gives its cluster, its namespace, kind and name; or Vercel's project by the slug of its team, or the user name, and its name.",
    examples: ['kubernetes:production/shop/deployment/web'],
  }),
  params: Params,
  facts: Facts,
  required: {
    image_digest: 'content',
    container: 'target',
    deployment: 'content',
    commit: 'content',
    domain: 'target',
  },
  shows: { pods_with_digest: { not: 0 } },
  compared: {
    target: 'none',
    image_digest: { fact: 'image_digest', as: 'digest' },
    container: 'none',
    deployment: { fact: 'deployment', as: 'exact' },
    commit: { fact: 'commit', as: 'case' },
    domain: { fact: 'domain', as: 'case' },
  },
  past: ['aliased_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: {
    permission:
      "Kubernetes: get of the workload, list of its namespace's pods and replicasets. Vercel: a token of the team, which can also change it.",
    anonymous: false,
  },
}
