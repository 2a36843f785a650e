/** Claims of images that do not run in Kubernetes, or not alone, and those of which the cluster shows too little. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import {
  byTag,
  type Cluster,
  type Container,
  containerd,
  NEW,
  NEW_CONFIG,
  OLD,
  OTHER as OTHER_IMAGE,
  templateOf,
} from './cluster.ts'
import { type Kubernetes, statusAnswer } from './kubernetes-api.ts'
import {
  cluster,
  DAY,
  FAILED,
  FAILED_MAYBE,
  HOUR,
  instead,
  MINUTE,
  NOT_DONE,
  OTHER_MAYBE,
  OTHER_UNTOLD,
  ROLLED_MS,
  type Row,
  rolledOut,
  rowsOf,
  SECOND,
  TRUE_UNTOLD,
  UNTOLD,
} from './row.ts'
import { DOWN, EMPTY, FILTERED, NO_LEADER, NO_RESOURCE, NO_ROUTE, SIGN_IN, TOO_MANY } from './troubles.ts'

const row = rowsOf('kubernetes')
const params = { image_digest: NEW }
const at = (of: Cluster, more: Partial<Kubernetes> = {}) => ({ kubernetes: { cluster: of, ...more }, params })
const old = (template = templateOf(OLD)) => cluster().make(-30 * DAY, { template })
const proxy: Container = { name: 'proxy', image: containerd(NEW), imageID: () => containerd(NEW) }

const NOT_LIVE: readonly Row[] = [
  row(FAILED, 'no workload of this name', 'rights come before existence: a 404 is real', () => ({ ...at(cluster()) })),
  row(FAILED, 'removed an hour ago', 'nothing of this name runs', () => ({ ...at(old().remove(-HOUR)) })),
  row(FAILED, 'a stateful set of this name', 'the claim names a deployment', () => ({
    ...at(cluster().make(-30 * DAY, { kind: 'statefulset', template: templateOf(NEW) })),
  })),
  row(FAILED_MAYBE, 'an image that cannot be pulled', 'the new pods wait, and old ones serve', () => ({
    ...at(rolledOut({ ready: 0, waits: 'ImagePullBackOff' })),
  })),
  row(FAILED_MAYBE, 'an image that cannot be pulled, for an hour', 'ProgressDeadlineExceeded', () => ({
    ...at(rolledOut({ afterMs: -HOUR, ready: 0, waits: 'ImagePullBackOff' })),
  })),
  row(FAILED_MAYBE, 'one of two pods is new', 'old pods still serve', () => ({
    ...at(rolledOut({ ready: 1, waits: 'ContainerCreating' })),
  })),
  row(FAILED_MAYBE, 'new pods that are never ready', 'what is not ready serves nobody', () => ({
    ...at(rolledOut().changePods(-2 * SECOND, (_, now) => ({ isReady: false, readyAt: now, restarts: 7 }))),
  })),
  row(
    FAILED_MAYBE,
    'new pods that are not ready, after a roll-out that was complete',
    'kubernetes 106054: NewReplicaSetAvailable stays when pods fail later',
    () => ({
      ...at(rolledOut({ afterMs: -HOUR }).changePods(-30 * MINUTE, (_, now) => ({ isReady: false, readyAt: now }))),
    }),
  ),
  row(FAILED_MAYBE, 'paused before the image was changed', 'the template names it, and no pod runs it', () => ({
    ...at(
      old()
        .pause(-MINUTE)
        .rollOut(-ROLLED_MS, { template: templateOf(NEW) }),
    ),
  })),
  row(FAILED_MAYBE, 'paused after one of two pods', 'old pods still serve', () => ({
    ...at(rolledOut().pause(-ROLLED_MS + 3000)),
  })),
  row(
    FAILED_MAYBE,
    'not seen by a controller',
    'observedGeneration is below: the status is of the template before',
    () => ({
      ...at(old().setTemplate(-ROLLED_MS, templateOf(NEW))),
    }),
  ),
  row(
    FAILED_MAYBE,
    'a stateful set of which a partition stays',
    'pods below the partition stay at their revision',
    () => ({
      ...at(
        cluster()
          .make(-30 * DAY, { kind: 'statefulset', partition: 1 })
          .rollOut(-ROLLED_MS, { template: templateOf(NEW) }),
      ),
      target: 'kubernetes:prod/shop/statefulset/web',
    }),
  ),
  row(FAILED_MAYBE, 'a stateful set of which all stay', 'a partition may hold all pods', () => ({
    ...at(
      cluster()
        .make(-30 * DAY, { kind: 'statefulset', partition: 2 })
        .rollOut(-ROLLED_MS, { template: templateOf(NEW) }),
    ),
    target: 'kubernetes:prod/shop/statefulset/web',
  })),
  row(FAILED_MAYBE, 'a daemon set that waits for its pods to be deleted', 'OnDelete: no pod is replaced', () => ({
    ...at(
      cluster()
        .make(-30 * DAY, { kind: 'daemonset', strategy: 'OnDelete' })
        .rollOut(-ROLLED_MS, { template: templateOf(NEW) }),
    ),
    target: 'kubernetes:prod/shop/daemonset/web',
  })),
  row(NOT_DONE, 'scaled to nothing', 'no pod runs it', () => ({ ...at(rolledOut().scale(-2 * SECOND, 0)) })),
  row(NOT_DONE, 'scaled to nothing before the image was changed', 'no pod ever ran it', () => ({
    ...at(
      old()
        .scale(-HOUR, 0)
        .rollOut(-ROLLED_MS, { template: templateOf(NEW) }),
    ),
  })),
  ...(
    [
      'kubernetes:staging/shop/deployment/web',
      'kubernetes:prod/shop/job/web',
      'kubernetes:prod/shop/deployment/web/status',
      'kubernetes:prod/shop/deployment/..',
    ] as const
  ).map((target) =>
    row(
      ['never', 'refused', 'unverifiable', 'failed'],
      `the target ${target}`,
      'it is not the workload that runs it',
      () => ({ ...at(rolledOut()), target }),
    ),
  ),
  row(NOT_DONE, 'in a namespace that may not be read', '403 comes before existence', () => ({
    ...at(rolledOut()),
    target: 'kubernetes:prod/other/deployment/web',
  })),
  ...(['4.12', 'sha256:abc', NEW.slice(7), `${NEW}0`] as const).map((image_digest) =>
    row(
      UNTOLD,
      `claimed as ${image_digest.slice(0, 12)}, of ${image_digest.length} letters`,
      'it is no digest',
      () => ({ ...at(rolledOut()), params: { image_digest } }),
    ),
  ),
  row(UNTOLD, 'a container that is not there', 'the claim names another one', () => ({
    ...at(rolledOut()),
    params: { ...params, container: 'api' },
  })),
]

const OTHERWISE: readonly Row[] = [
  row(OTHER_MAYBE, 'the old image still runs', 'nothing was rolled out', () => ({ ...at(old()) })),
  row(OTHER_MAYBE, 'another image was rolled out', 'all pods run another digest', () => ({
    ...at(rolledOut({ template: templateOf(OTHER_IMAGE) })),
  })),
  row(OTHER_MAYBE, 'the tag was rolled out, and is of another image', 'the node says what it pulled', () => ({
    ...at(rolledOut({ template: templateOf(OTHER_IMAGE, { image: byTag('4.12') }) })),
  })),
  row(
    OTHER_MAYBE,
    'the tag was moved, and the node had the old image',
    'IfNotPresent: no node pulls what it has',
    () => ({
      ...at(rolledOut({ template: templateOf(OLD, { image: byTag('latest') }) })),
    }),
  ),
  row(
    OTHER_UNTOLD,
    'the old image under a tag, told as a configuration',
    'a bare digest of a configuration founds no blame',
    () => ({
      ...at(old(templateOf(OLD, { image: byTag('latest'), imageID: () => NEW_CONFIG.replace(/.$/, '0') }))),
    }),
  ),
  row(OTHER_MAYBE, 'the image runs in a proxy beside the claimed container', 'the claim names the container', () => ({
    ...at(rolledOut({ template: { containers: [proxy, ...templateOf(OLD).containers] } })),
    params: { ...params, container: 'web' },
  })),
  row(
    ['other', 'unverifiable', 'refused', 'mismatch', 'failed'],
    'the image runs in a proxy, and no container is named',
    'of several containers, the claim has to name one',
    () => ({
      ...at(rolledOut({ template: { containers: [proxy, ...templateOf(OLD).containers] } })),
    }),
  ),
  row(
    OTHER_MAYBE,
    'the image runs in a proxy that was put into the pods alone',
    'the template has one container, and it is another',
    () => ({
      ...at(old().changePods(-SECOND, (pod) => ({ template: { containers: [proxy, ...pod.template.containers] } }))),
    }),
  ),
  row(OTHER_MAYBE, 'the image ran in an initial container', 'what is over is not live', () => ({
    ...at(rolledOut({ template: { ...templateOf(OLD), initContainers: [{ ...proxy, name: 'web-init' }] } })),
  })),
  row(OTHER_MAYBE, 'an initial container is claimed by its name', 'what is over is not live', () => ({
    ...at(rolledOut({ template: { ...templateOf(OLD), initContainers: [{ ...proxy, name: 'migrate' }] } })),
    params: { ...params, container: 'migrate' },
  })),
  row(OTHER_MAYBE, 'a pod of nobody runs the image', 'ownerReferences say whose a pod is', () => ({
    ...at(old().stray(-MINUTE, templateOf(NEW))),
  })),
  row(OTHER_MAYBE, 'a canary with the same labels runs the image', 'it is another deployment', () => ({
    ...at(old().stray(-MINUTE, templateOf(NEW), '7d9c4d1e-0000-4000-8000-00000000cafe')),
  })),
  row(OTHER_MAYBE, 'a canary of another name runs the image', 'the claim names a deployment', () => ({
    ...at(old().make(-MINUTE, { name: 'web-canary', template: templateOf(NEW) })),
  })),
  row(
    OTHER_MAYBE,
    'rolled back a minute ago, as its replica set shows',
    'a replica set without pods runs nothing',
    () => ({
      ...at(rolledOut({ afterMs: -HOUR }).rollOut(-MINUTE, { template: templateOf(OLD) })),
    }),
  ),
  row(
    OTHER_MAYBE,
    'rolled back a minute ago, which the watch cache does not show',
    'resourceVersion=0 answers any state, also an old one',
    () => ({
      ...at(rolledOut({ afterMs: -2 * HOUR }).rollOut(-MINUTE, { template: templateOf(OLD) }), { cacheLagMs: HOUR }),
    }),
  ),
  row(OTHER_MAYBE, 'a failed pod had the image', 'a failed pod runs nothing', () => ({
    ...at(
      rolledOut({ afterMs: -HOUR })
        .evict(-30 * MINUTE)
        .rollOut(-20 * MINUTE, { template: templateOf(OLD) }),
    ),
  })),
  row(
    ['other', 'unverifiable'],
    'the old image still runs, submitted after 20 minutes',
    'it may have been rolled out and back',
    () => ({ ...at(old()), submittedMs: 20 * MINUTE }),
  ),
]

const LOST: readonly Row[] = [
  ...(
    [
      ['rolled back', () => rolledOut().rollOut(3 * MINUTE, { template: templateOf(OLD) })],
      ['scaled to nothing', () => rolledOut().scale(3 * MINUTE, 0)],
      ['removed', () => rolledOut().remove(3 * MINUTE)],
      [
        'removed and made again with the old image',
        () =>
          rolledOut()
            .remove(3 * MINUTE)
            .make(3.1 * MINUTE),
      ],
      [
        'pulled anew under its tag',
        () =>
          rolledOut({ template: templateOf(NEW, { image: byTag('latest') }) }).replacePods(
            3 * MINUTE,
            templateOf(OTHER_IMAGE, { image: byTag('latest') }),
          ),
      ],
    ] as const
  ).map(([title, of]) =>
    row(TRUE_UNTOLD, `${title} after three minutes, submitted after eight`, 'it was live in time', () => ({
      ...at(of()),
      submittedMs: 8 * MINUTE,
    })),
  ),
  row(TRUE_UNTOLD, 'rolled back after three minutes, while nobody could look', 'it was live in time', () => ({
    ...at(rolledOut().rollOut(3 * MINUTE, { template: templateOf(OLD) })),
    instead: instead(DOWN, { untilMs: 5 * MINUTE }),
  })),
  row(
    ['in time', 'unverifiable', 'mismatch', 'failed'],
    'removed before the first look',
    'what came and went between reads leaves no trace',
    () => ({ ...at(rolledOut().remove(500)) }),
  ),
]

/** Both of what is live and what is not, where the cluster shows neither. */
function hidden(title: string, why: string, kubernetes: Partial<Kubernetes>, more: object = {}): readonly Row[] {
  return [
    row(TRUE_UNTOLD, `live, and ${title}`, why, () => ({ ...at(rolledOut(), kubernetes), ...more })),
    row(NOT_DONE, `no such workload, and ${title}`, why, () => ({ ...at(cluster(), kubernetes), ...more })),
  ]
}

const HIDDEN: readonly Row[] = [
  ...hidden('nothing may be read', 'a 403 is no absence', { rights: [] }),
  ...hidden('pods alone may be read', 'a 403 is no absence', { rights: ['list pods', 'get pods'] }),
  ...hidden(
    'the token has ended',
    'a 401 is no absence',
    {},
    { connection: { token: 'eyJhbGciOiJSUzI1NiJ9.another.c2ln' } },
  ),
  ...(
    [
      [DOWN, 'the API server is down'],
      [NO_LEADER, 'its store has no leader'],
      [TOO_MANY, 'there are too many requests'],
      [SIGN_IN, 'the page of a proxy answers'],
      [FILTERED, 'a filter finds no page'],
      [NO_ROUTE, 'a gateway leads elsewhere'],
      [EMPTY, 'an empty object answers'],
      [NO_RESOURCE, 'the group is not served'],
      [
        statusAnswer(404, 'NotFound', 'namespaces "shop" not found', { name: 'shop', kind: 'namespaces' }),
        'another cluster answers',
      ],
    ] satisfies readonly (readonly [Answer, string])[]
  ).flatMap(([answer, what]) =>
    hidden(what, 'it tells neither presence nor absence', {}, { instead: instead(answer) }),
  ),
]

export const KUBERNETES_FALSE: readonly Row[] = [...NOT_LIVE, ...OTHERWISE, ...LOST, ...HIDDEN]
