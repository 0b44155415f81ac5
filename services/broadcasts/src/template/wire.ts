import type { Component } from '@bmg/common/lifecycle';
import { createRpcClient } from '@bmg/common/rpc';
import { TemplatesDefinition } from '@bmg/proto/templates';
import type { Dependencies } from '../dependencies';
import { createTemplateStateStore, type TemplateStates } from '../store/template-states';
import { createFindTemplate, type FindTemplate } from './find';
import { createTemplateValidation, type ValidateTemplate } from './validate-template';

export interface TemplatesFeature {
  validateTemplate: ValidateTemplate;
  findTemplate: FindTemplate;
  applyEvents: TemplateStates['apply'];
  components: Component[];
}

/** The templates service may be absent: then the last status event of a template decides. */
export function wireTemplates(
  { db, log }: Dependencies,
  address: string | undefined,
): TemplatesFeature {
  const client = address === undefined ? undefined : createRpcClient(TemplatesDefinition, address);
  const states = createTemplateStateStore(db);
  const shared = { templates: client?.rpc, states, log };
  return {
    validateTemplate: createTemplateValidation(shared),
    findTemplate: createFindTemplate(shared),
    applyEvents: (batch) => states.apply(batch),
    components: client ? [client] : [],
  };
}
