// C4.5 as Weka's J48 with the Laplace correction, for several folds in one process, with probabilities in full precision
// (the command line of Weka prints three digits).
//
//     java -cp weka.jar J48Folds.java train.arff test.arff out.csv [train.arff test.arff out.csv ...]
//
// The first line of out.csv holds the CPU seconds of fitting and of predicting, and the number of leaves; every other line
// the class probabilities of a row of test.arff. The class is the last attribute.

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import weka.classifiers.trees.J48;
import weka.core.Instances;
import weka.core.converters.ConverterUtils.DataSource;

public class J48Folds {
    public static void main(String[] files) throws Exception {
        for (int i = 0; i + 2 < files.length; i += 3) {
            fold(read(files[i]), read(files[i + 1]), files[i + 2]);
        }
    }

    static long now() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    static Instances read(String path) throws Exception {
        Instances data = DataSource.read(path);
        data.setClassIndex(data.numAttributes() - 1);
        return data;
    }

    static void fold(Instances train, Instances test, String out) throws Exception {
        J48 tree = new J48(); // confidence 0.25, at least 2 examples in a leaf, subtree raising: Weka's defaults
        tree.setUseLaplace(true);
        long start = now();
        tree.buildClassifier(train);
        long fitted = now();
        double[][] rows = new double[test.numInstances()][];
        for (int r = 0; r < rows.length; r++) {
            rows[r] = tree.distributionForInstance(test.instance(r));
        }
        long end = now();
        try (PrintWriter lines = new PrintWriter(out, "UTF-8")) {
            lines.println((fitted - start) / 1e9 + "," + (end - fitted) / 1e9 + "," + tree.measureNumLeaves());
            for (double[] row : rows) {
                StringBuilder line = new StringBuilder();
                for (double p : row) {
                    line.append(line.length() == 0 ? "" : ",").append(p);
                }
                lines.println(line);
            }
        }
    }
}
