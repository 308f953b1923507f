"""Large questions on many processes or machines, through joblib: the answer is that of one process.

    with joblib.parallel_config(backend="loky", n_jobs=8):      # or "dask", "ray", "spark"
        post = cluster.posterior(space)

The parts that are handed out do not depend on each other:

    evidence      the closed states (their two lowest levels are nearly all of the work), every k-th one to a part: the
                  driver builds the graph, sends covers, and computes the rest
    best tree     splits of the root, or those below them, in rounds that share the best tree so far and all bounds
    predictions   blocks of rows

A worker that dies costs its parts only: they are handed out again, and what was finished is kept
(`everytree.common.workers`). The chains of ``MCMCTreeClassifier``, studies, and scikit-learn's ``cross_val_score`` and
the like run on the same workers.
"""

from everytree.cluster.fold import posterior, predict_proba
from everytree.cluster.search import best
from everytree.common.workers import distribute, results, use_backend

__all__ = ["best", "distribute", "posterior", "predict_proba", "results", "use_backend"]
