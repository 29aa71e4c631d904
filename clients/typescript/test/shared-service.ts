import type { TestProject } from "vitest/node";
import { Service } from "./service.js";

declare module "vitest" {
  export interface ProvidedContext {
    url: string;
  }
}

/** One service for all tests that do not change its state for others. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const service = await Service.start();
  project.provide("url", service.url);
  return () => service.remove();
}
