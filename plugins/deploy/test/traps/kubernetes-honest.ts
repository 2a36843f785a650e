/** Claims of images that run in Kubernetes, in circumstances that are common, and of those that ran late. */
import {
  byBoth,
  byDigest,
  byTag,
  type Cluster,
  type Container,
  containerd,
  docker,
  NEW,
  NEW_ARM,
  NEW_CONFIG,
  OLD,
  SIDECAR,
  type Template,
  templateOf,
  type WorkloadKind,
} from './cluster.ts'
import type { Kubernetes } from './kubernetes-api.ts'
import {
  cluster,
  DAY,
  HOUR,
  instead,
  LATE,
  LATE_MAYBE,
  LATE_UNTOLD,
  MINUTE,
  ROLLED_MS,
  type Row,
  rolledOut,
  rowsOf,
  SECOND,
  TRUE,
  TRUE_MAYBE,
  TRUE_UNTOLD,
} from './row.ts'
import { DOWN, EXPIRED, NO_LEADER, TIMED_OUT, TOO_MANY } from './troubles.ts'

const row = rowsOf('kubernetes')
const params = { image_digest: NEW }
const at = (name: Cluster, more: Partial<Kubernetes> = {}) => ({ kubernetes: { cluster: name, ...more }, params })
/** The new image under another name, or as nodes tell it otherwise. */
const as = (given: Partial<Container>): Template => templateOf(NEW, given)
const OLD_TAG = templateOf(OLD, { image: byTag('latest') })
const targetOf = (kind: WorkloadKind) => `kubernetes:prod/shop/${kind}/web`
const proxy: Container = { name: 'proxy', image: byDigest(SIDECAR), imageID: () => containerd(SIDECAR) }
const withProxy: Template = { containers: [proxy, ...templateOf(NEW).containers] }

const PLAIN: readonly Row[] = [
  ...(['deployment', 'statefulset', 'daemonset'] as const).map((kind) =>
    row(TRUE, `a ${kind}`, 'all of its pods are ready and run the digest', () => ({
      ...at(
        cluster()
          .make(-30 * DAY, { kind })
          .rollOut(-ROLLED_MS, { template: templateOf(NEW) }),
      ),
      target: targetOf(kind),
      facts: { pods_ready: 2, pods_with_digest: 2 },
    })),
  ),
  ...(
    [
      ['by tag', { image: byTag('4.12') }],
      ['by the tag latest', { image: byTag('latest') }],
      ['by tag and digest', { image: byBoth('4.12', NEW) }],
      ['as Docker tells it', { imageID: () => docker(NEW) }],
      ['by tag, as Docker tells it', { image: byTag('4.12'), imageID: () => docker(NEW) }],
      ['as a bare digest', { imageID: () => NEW }],
      ['in a mirror of the registry', { imageID: () => `mirror.example.net/cache/shop@${NEW}` }],
    ] as const
  ).map(([title, given]) =>
    row(TRUE, `named ${title}`, 'kubernetes 95968: the form of imageID depends on the runtime', () => ({
      ...at(rolledOut({ template: as(given) })),
    })),
  ),
  row(
    TRUE,
    'named by digest, told as a configuration',
    'containerd 8408: imageID may be of the configuration, and the template names the digest',
    () => ({
      ...at(rolledOut({ template: as({ imageID: () => NEW_CONFIG }) })),
    }),
  ),
  row(
    TRUE,
    'named by the digest of an index, told as the manifest of a platform',
    'kubernetes 115199: both are told',
    () => ({
      ...at(rolledOut({ template: as({ imageID: () => containerd(NEW_ARM) }) })),
    }),
  ),
  row(TRUE, 'named by the digest of an index, on nodes of two platforms', 'each node tells its own manifest', () => ({
    ...at(rolledOut({ template: as({ imageID: (pod) => containerd(pod % 2 ? NEW_ARM : NEW) }) })),
  })),
  row(
    TRUE_UNTOLD,
    'named by tag, on nodes of two platforms that tell their manifests',
    'one of two pods tells another digest',
    () => ({
      ...at(
        rolledOut({ template: as({ image: byTag('4.12'), imageID: (pod) => containerd(pod % 2 ? NEW_ARM : NEW) }) }),
      ),
    }),
  ),
  ...[byTag('4.12'), byDigest(NEW)].map((image) =>
    row(
      TRUE_UNTOLD,
      `claimed by the manifest of a platform, named ${image.slice(-12)}, told as the index`,
      'kubernetes 115199: the index stands for the manifest, and only a registry tells that',
      () => ({
        ...at(rolledOut({ template: as({ image }) })),
        params: { image_digest: NEW_ARM },
      }),
    ),
  ),
  row(
    TRUE_UNTOLD,
    'claimed by the configuration, as docker images shows it',
    'an image has three digests, and only a registry relates them',
    () => ({
      ...at(rolledOut({ template: as({ image: byTag('4.12') }) })),
      params: { image_digest: NEW_CONFIG },
    }),
  ),
  row(
    TRUE_UNTOLD,
    'named by tag, told as a configuration',
    'a bare digest of a configuration is no other image',
    () => ({
      ...at(rolledOut({ template: as({ image: byTag('4.12'), imageID: () => NEW_CONFIG }) })),
    }),
  ),

  // More containers.
  row(TRUE, 'beside a proxy, by its name', 'the claim names the container', () => ({
    ...at(rolledOut({ template: withProxy })),
    params: { ...params, container: 'web' },
  })),
  row(
    ['in time', 'unverifiable', 'refused', 'verified'],
    'beside a proxy, without a name',
    'of several containers, the claim has to name one',
    () => ({
      ...at(rolledOut({ template: withProxy })),
    }),
  ),
  row(
    TRUE_MAYBE,
    'beside a proxy that was put into the pods alone',
    'meshes add containers to pods, and not to templates',
    () => ({
      ...at(
        rolledOut().changePods(-SECOND, (pod) => ({ template: { containers: [...pod.template.containers, proxy] } })),
      ),
    }),
  ),
  row(TRUE, 'behind an initial container of another image', 'it has run, and is over', () => ({
    ...at(rolledOut({ template: { ...templateOf(NEW), initContainers: [{ ...proxy, name: 'migrate' }] } })),
  })),

  // Other pods.
  row(TRUE, 'beside a pod of nobody with its labels', 'ownerReferences say whose a pod is', () => ({
    ...at(rolledOut().stray(-HOUR, templateOf(OLD))),
  })),
  row(TRUE, 'beside a pod of another deployment with its labels', 'ownerReferences say whose a pod is', () => ({
    ...at(rolledOut().stray(-HOUR, templateOf(OLD), '7d9c4d1e-0000-4000-8000-00000000cafe')),
  })),
  row(TRUE, 'beside an evicted pod', 'a failed pod runs nothing', () => ({ ...at(rolledOut().evict(-2 * SECOND)) })),
  row(TRUE_MAYBE, 'while old pods are shut down', 'pods that are being deleted are not counted', () => ({
    ...at(rolledOut({ afterMs: -4.5 * SECOND })),
  })),
  row(TRUE, 'of five pods', 'all of them are shown', () => ({
    ...at(
      cluster()
        .make(-30 * DAY, { replicas: 5 })
        .rollOut(-MINUTE, { template: templateOf(NEW) }),
    ),
    facts: { pods_with_digest: 5 },
  })),
  row(TRUE, 'of five pods, one on a page', 'metadata.continue: there is more', () => ({
    ...at(
      cluster()
        .make(-30 * DAY, { replicas: 5 })
        .rollOut(-MINUTE, { template: templateOf(NEW) }),
      { pageSize: 1 },
    ),
  })),
  row(
    TRUE,
    'named by tag, with a watch cache that is behind',
    'resourceVersion=0 answers any state, also an old one',
    () => ({
      ...at(rolledOut({ template: as({ image: byTag('4.12') }) }), { cacheLagMs: HOUR }),
    }),
  ),
  row(TRUE, 'with a watch cache that is behind', 'resourceVersion=0 answers any state, also an old one', () => ({
    ...at(rolledOut(), { cacheLagMs: HOUR }),
  })),
  row(TRUE_MAYBE, 'without the right to list replica sets', 'the pods have the hash of their template', () => ({
    ...at(rolledOut(), { rights: ['get deployments', 'list pods', 'get pods'] }),
  })),
  row(
    ['in time', 'unverifiable', 'verified'],
    'without the right to list pods',
    'the template names the digest, and the status counts',
    () => ({
      ...at(rolledOut(), { rights: ['get deployments', 'list replicasets'] }),
    }),
  ),
]

/** Stateful and daemon sets, whose pods are replaced in their place, and whose status has no condition of a roll-out. */
const SETS: readonly Row[] = (['statefulset', 'daemonset'] as const).flatMap((kind) => {
  const of = (afterMs: number, template = templateOf(NEW), replicas = 2) =>
    cluster()
      .make(-30 * DAY, { kind, replicas })
      .rollOut(afterMs, { template })
  const target = targetOf(kind)
  return [
    row(TRUE, `a ${kind}, by tag`, 'the digest is in the status of the pods', () => ({
      ...at(of(-ROLLED_MS, as({ image: byTag('4.12') }))),
      target,
    })),
    row(TRUE, `a ${kind}, as Docker tells it`, 'kubernetes 95968', () => ({
      ...at(of(-ROLLED_MS, as({ image: byTag('4.12'), imageID: () => docker(NEW) }))),
      target,
    })),
    row(TRUE, `a ${kind} of five pods, two on a page`, 'metadata.continue: there is more', () => ({
      ...at(of(-MINUTE, templateOf(NEW), 5), { pageSize: 2 }),
      target,
    })),
    row(TRUE, `a ${kind}, edited meanwhile`, 'the generation rises with each edit', () => ({
      ...at(of(-ROLLED_MS).edit(500)),
      target,
    })),
    row(TRUE, `a ${kind}, rolled out pod by pod for three minutes`, 'it was complete within the tolerance', () => ({
      ...at(
        cluster()
          .make(-30 * DAY, { kind })
          .rollOut(0, { template: templateOf(NEW), podMs: 80 * SECOND }),
      ),
      target,
    })),
    row(TRUE, `a ${kind}, restarted meanwhile`, 'startedAt is of the last start', () => ({
      ...at(of(-ROLLED_MS).changePods(500, (pod, now) => ({ restarts: pod.restarts + 1, startedAt: now }))),
      target,
    })),
    row(LATE_MAYBE, `a ${kind}, rolled out after twelve minutes`, 'the looks before showed the old image', () => ({
      ...at(of(12 * MINUTE)),
      target,
    })),
    row(LATE_UNTOLD, `a ${kind}, rolled out after 20 minutes, submitted then`, 'nobody looked before', () => ({
      ...at(of(20 * MINUTE)),
      target,
      submittedMs: 22 * MINUTE,
    })),
  ]
})

const MOMENTS: readonly Row[] = [
  row(TRUE, 'edited meanwhile', 'the generation rises with each edit', () => ({ ...at(rolledOut().edit(500)) })),
  row(TRUE, 'edited, and not observed for three seconds', 'observedGeneration catches up', () => ({
    ...at(rolledOut().edit(900, 'web', 3000)),
  })),
  row(TRUE, 'scaled up meanwhile', 'all pods are of the same template', () => ({
    ...at(rolledOut().scale(-2 * SECOND, 4)),
  })),
  row(TRUE, 'restarted meanwhile', 'startedAt is of the last start', () => ({
    ...at(rolledOut().changePods(500, (pod, now) => ({ restarts: pod.restarts + 1, startedAt: now }))),
  })),
  row(TRUE, 'not ready for a minute', 'it was live again within the tolerance', () => ({
    ...at(
      rolledOut()
        .changePods(0, (_, now) => ({ isReady: false, readyAt: now }))
        .changePods(MINUTE, (_, now) => ({ isReady: true, readyAt: now })),
    ),
  })),
  row(TRUE, 'rolled out pod by pod for three minutes', 'it was complete within the tolerance', () => ({
    ...at(rolledOut({ afterMs: 0, podMs: 80 * SECOND })),
  })),
  row(TRUE, 'rolled back and forward again', 'the replica set of before is used again', () => {
    const template = templateOf(NEW)
    const back = templateOf(OLD)
    return at(
      cluster()
        .make(-30 * DAY, { template: back })
        .rollOut(-HOUR, { template })
        .rollOut(-MINUTE * 20, { template: back })
        .rollOut(-ROLLED_MS, { template }),
    )
  }),
  row(TRUE, 'rolled back after three minutes', 'it was seen before', () => ({
    ...at(rolledOut().rollOut(3 * MINUTE, { template: templateOf(OLD) })),
  })),
  row(TRUE_MAYBE, 'live for a week already', 'the claim says that it is live', () => ({
    ...at(rolledOut({ afterMs: -7 * DAY })),
  })),
  row(
    TRUE_MAYBE,
    'submitted after half an hour',
    'lastUpdateTime of the condition says since when it was available',
    () => ({ ...at(rolledOut()), submittedMs: 30 * MINUTE }),
  ),
  row(
    TRUE_MAYBE,
    'scaled after 20 minutes, submitted then',
    'the template is the same, and its pods are newer',
    () => ({
      ...at(rolledOut().scale(20 * MINUTE, 4)),
      submittedMs: 30 * MINUTE,
    }),
  ),
  row(TRUE_MAYBE, 'made again with the image after two minutes', 'the workload of this name runs it', () => ({
    ...at(
      cluster()
        .make(-30 * DAY)
        .remove(2 * MINUTE)
        .make(2.1 * MINUTE, { template: templateOf(NEW) }),
    ),
  })),
  ...(
    [
      [TOO_MANY, 'too many requests'],
      [NO_LEADER, 'a store without a leader'],
      [TIMED_OUT, 'requests that time out'],
      [EXPIRED, 'a list that expired'],
      [DOWN, 'an API server that is down'],
    ] as const
  ).map(([answer, what]) =>
    row(TRUE, `${what} for three minutes`, 'it answers within the tolerance', () => ({
      ...at(rolledOut()),
      instead: instead(answer, { untilMs: 3 * MINUTE }),
    })),
  ),

  // Late ones.
  row(LATE_MAYBE, 'rolled out after twelve minutes', 'the looks before showed the old image', () => ({
    ...at(rolledOut({ afterMs: 12 * MINUTE })),
  })),
  row(LATE, 'rolled out pod by pod, for 14 minutes', 'old pods served until then', () => ({
    ...at(rolledOut({ afterMs: 0, podMs: 7 * MINUTE })),
  })),
  row(LATE_MAYBE, 'pulled again under its tag after 14 minutes', 'no roll-out tells it: the pods are new', () => ({
    ...at(
      cluster()
        .make(-30 * DAY, { template: OLD_TAG })
        .replacePods(14 * MINUTE, as({ image: byTag('latest') })),
    ),
  })),
  row(
    LATE_UNTOLD,
    'ready after 14 minutes',
    'no pod was ready, and the condition says that the roll-out was complete',
    () => ({
      ...at(
        rolledOut()
          .changePods(-4 * SECOND, (_, now) => ({ isReady: false, readyAt: now }))
          .changePods(14 * MINUTE, (_, now) => ({ isReady: true, readyAt: now })),
      ),
    }),
  ),
  row(
    LATE_UNTOLD,
    'rolled out after 20 minutes, submitted then',
    'lastTransitionTime of the condition is of the deployment\u2019s first roll-out',
    () => ({
      ...at(rolledOut({ afterMs: 20 * MINUTE })),
      submittedMs: 22 * MINUTE,
    }),
  ),
  row(
    LATE_UNTOLD,
    'pulled again under its tag after 20 minutes, submitted then',
    'the condition is of a roll-out long before',
    () => ({
      ...at(
        cluster()
          .make(-30 * DAY, { template: OLD_TAG })
          .replacePods(20 * MINUTE, as({ image: byTag('latest') })),
      ),
      submittedMs: 22 * MINUTE,
    }),
  ),
  row(LATE_UNTOLD, 'rolled out again after 20 minutes, submitted then', 'its replica set was made a day ago', () => {
    const template = templateOf(NEW)
    const back = templateOf(OLD)
    return {
      ...at(
        cluster()
          .make(-30 * DAY, { template: back })
          .rollOut(-DAY, { template })
          .rollOut(-HOUR, { template: back })
          .rollOut(20 * MINUTE, { template }),
      ),
      submittedMs: 22 * MINUTE,
    }
  }),
  row(LATE_UNTOLD, 'ready after 20 minutes, submitted then', 'its containers started long before', () => ({
    ...at(
      rolledOut()
        .changePods(-4 * SECOND, (_, now) => ({ isReady: false, readyAt: now }))
        .changePods(20 * MINUTE, (_, now) => ({ isReady: true, readyAt: now })),
    ),
    submittedMs: 22 * MINUTE,
  })),
]

export const KUBERNETES_HONEST: readonly Row[] = [...PLAIN, ...SETS, ...MOMENTS]
