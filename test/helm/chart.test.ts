// The rendered chart: every variant fits the schemas of Kubernetes and of optional projects, and
// each process accepts the settings that it gets.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@bmg/common/config';
import { EVERYWHERE, facts, SERVICES } from './facts';
import { CHART, KUBE_VERSION, example, manifests, quietEnvironment } from './render';
import { conform } from './conform';
import { customSchemas } from './custom-kinds';
import { componentOf, componentsOf, environmentOf, podsOf, withoutFiles } from './manifest-parts';
import { helm, KUBERNETES, kubernetesSchemas } from './tools';
import { describeChart, of, textOf, VARIANTS } from './variants';

describeChart('the chart', () => {
  test('helm lint reports nothing', () => {
    const dir = mkdtempSync(join(tmpdir(), 'bmg-lint-'));
    try {
      for (const name of ['minimal', 'trial', 'production']) {
        const said = execFileSync(
          helm(),
          ['lint', '--strict', CHART, ...KUBE_VERSION, '--values', example(name)],
          { encoding: 'utf8', stdio: 'pipe', env: quietEnvironment(dir) },
        );
        expect(said).not.toMatch(/\[(ERROR|WARNING)\]/);
        expect(said).toContain('0 chart(s) failed');
      }
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test.each(KUBERNETES)(
    'every variant fits Kubernetes %s, and a wrong field does not',
    (release) => {
      const schemas = kubernetesSchemas(release);
      if (schemas === undefined) {
        process.stderr.write(
          'helm checks: no schemas of Kubernetes, since Python is not installed\n',
        );
        return;
      }
      const texts = Object.fromEntries(Object.keys(VARIANTS).map((name) => [name, textOf(name)]));
      const spoilt = {
        'a field of Kubernetes': textOf('minimal').replace('readOnlyRootF', 'readOnlyRootf'),
        'a field of another project': textOf('production').replace('refreshInterval', 'refresh'),
      };
      const { faults, valid } = conform({ ...texts, ...spoilt }, [schemas, customSchemas()]);
      expect(faults).toEqual([
        {
          text: 'a field of Kubernetes',
          manifest: 'Deployment bmg-broadcasts',
          message: expect.stringMatching(/securityContext must NOT have additional properties/),
        },
        {
          text: 'a field of another project',
          manifest: 'ExternalSecret bmg-broadcasts-secrets',
          message: expect.stringMatching(/must NOT have additional properties/),
        },
      ]);
      const all = [...Object.values(texts), ...Object.values(spoilt)].flatMap(manifests);
      expect(valid).toBe(all.length - 2);
    },
  );

  describe.each(Object.keys(VARIANTS))('%s', (variant) => {
    test('each service accepts the settings of its pods', () => {
      const deployments = of(variant, 'Deployment').filter(
        ({ metadata }) => componentOf(metadata) in SERVICES,
      );
      expect(componentsOf(deployments).sort()).toEqual(Object.keys(SERVICES).sort());
      for (const { metadata, spec } of deployments) {
        const name = componentOf(metadata);
        const [container] = spec.template.spec.containers;
        const env = environmentOf(container, spec.template.spec.volumes);
        const known = facts()[name];
        for (const setting of Object.keys(env).filter((one) => one !== 'NODE_EXTRA_CA_CERTS')) {
          expect([
            ...(known?.settings ?? []),
            ...(known?.secrets ?? []),
            ...(known?.optional_secrets ?? []),
            ...Object.keys(EVERYWHERE),
          ]).toContain(setting);
        }
        const table = withoutFiles(SERVICES[name] ?? {});
        expect(() => loadConfig(table, env)).not.toThrow();
      }
    });

    test('every pod meets the restricted profile and requests resources', () => {
      for (const { pod, metadata } of podsOf(manifests(textOf(variant)))) {
        expect(pod.automountServiceAccountToken).toBe(false);
        expect(pod.enableServiceLinks).toBe(false);
        expect(pod.securityContext).toMatchObject({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(pod.securityContext.runAsUser).toBeGreaterThan(0);
        for (const container of pod.containers) {
          expect(container.securityContext).toMatchObject({
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
          });
          expect(Object.keys(container.resources.requests).sort()).toEqual(['cpu', 'memory']);
          expect(container.resources.limits.memory).toBeDefined();
          const foreign = ['kafka', 'mongo', 'redis'].includes(componentOf(metadata));
          if (!foreign) expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
        }
      }
    });

    test('every mount has its volume, and volume names are unique', () => {
      for (const { pod } of podsOf(manifests(textOf(variant)))) {
        const volumes = (pod.volumes ?? []).map(({ name }: { name: string }) => name);
        expect(new Set(volumes).size).toBe(volumes.length);
        // any: containers of every kind
        const mounts = pod.containers.flatMap((one: any) => one.volumeMounts ?? []);
        for (const { name } of mounts) {
          if (name !== 'data') expect(volumes).toContain(name);
        }
      }
      const names = manifests(textOf(variant)).map(
        ({ kind, metadata }) => `${kind} ${metadata.name}`,
      );
      expect(new Set(names).size).toBe(names.length);
    });
  });
});
